"""Largest and smallest elements, where they are, and their running forms."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel

_SOURCE = "definition"
_EXACT = "exact: values are moved, not computed; NaN counts as the extreme"


@kernel("aten.max.default", source=_SOURCE, accuracy=_EXACT)
def largest(self: torch.Tensor) -> torch.Tensor:
    """Return the largest element of ``self``."""
    return _whole(self, "max").amax()


@kernel("aten.min.default", source=_SOURCE, accuracy=_EXACT)
def smallest(self: torch.Tensor) -> torch.Tensor:
    """Return the smallest element of ``self``."""
    return _whole(self, "min").amin()


def _whole(self: torch.Tensor, name: str) -> torch.Tensor:
    if self.numel() == 0:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    return self


@kernel("aten.max.dim", source=_SOURCE, accuracy=_EXACT)
def max_dim(
    self: torch.Tensor, dim: int, keepdim: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the largest elements along ``dim`` and the index of the first of each."""
    values = _line(self, dim, "max").amax(dim, keepdim=True)
    return _found(self, values, dim, keepdim=keepdim)


@kernel("aten.min.dim", source=_SOURCE, accuracy=_EXACT)
def min_dim(
    self: torch.Tensor, dim: int, keepdim: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the smallest elements along ``dim`` and the index of the first of each."""
    values = _line(self, dim, "min").amin(dim, keepdim=True)
    return _found(self, values, dim, keepdim=keepdim)


@kernel("aten.argmax.default", source=_SOURCE, accuracy=_EXACT)
def argmax(self: torch.Tensor, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
    """Return the index of the first largest element, of all or along ``dim``."""
    if dim is None:
        found = max_dim(_whole(self, "argmax").reshape(-1), 0)[1]
        return found.reshape([1] * self.dim()) if keepdim else found
    return max_dim(self, dim, keepdim)[1]


@kernel("aten.argmin.default", source=_SOURCE, accuracy=_EXACT)
def argmin(self: torch.Tensor, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
    """Return the index of the first smallest element, of all or along ``dim``."""
    if dim is None:
        found = min_dim(_whole(self, "argmin").reshape(-1), 0)[1]
        return found.reshape([1] * self.dim()) if keepdim else found
    return min_dim(self, dim, keepdim)[1]


def _line(self: torch.Tensor, dim: int, name: str) -> torch.Tensor:
    if self.dim() and self.shape[dim] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
    return self


def _found(
    self: torch.Tensor, values: torch.Tensor, dim: int, *, keepdim: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    if self.dim() == 0:
        return values, torch.zeros((), dtype=torch.int64, device=self.device)
    size = self.shape[dim]
    places = torch.arange(size, device=self.device).reshape(_along(self, dim))
    first = torch.where(_same(self, values), places, size).amin(dim, keepdim=True)
    return (values, first) if keepdim else (values.squeeze(dim), first.squeeze(dim))


def _same(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    same = first == second
    if first.dtype.is_floating_point:
        same = same | (first.isnan() & second.isnan())
    return same


def _along(self: torch.Tensor, dim: int) -> list[int]:
    shape = [1] * self.dim()
    shape[dim] = -1
    return shape


@kernel("aten.cummax.default", source=_SOURCE, accuracy=_EXACT)
def cummax(self: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the largest element so far along ``dim`` and the index of the last such."""
    return _running(self, dim, largest=True)


@kernel("aten.cummin.default", source=_SOURCE, accuracy=_EXACT)
def cummin(self: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the smallest element so far along ``dim`` and the index of the last such."""
    return _running(self, dim, largest=False)


def _running(self: torch.Tensor, dim: int, *, largest: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Compare each element with all before it: time and memory for each pair of a line."""
    if self.dim() == 0 or self.numel() == 0:
        return self.clone(), torch.zeros(self.shape, dtype=torch.int64, device=self.device)
    line = self.movedim(dim, -1)
    places = torch.arange(line.shape[-1], device=self.device)
    # Elements that are not there yet count as the line's first, which always is.
    there = places <= places.unsqueeze(-1)
    seen = torch.where(there, line.unsqueeze(-2), line[..., :1].unsqueeze(-2))
    values = seen.amax(-1) if largest else seen.amin(-1)
    last = torch.where(there & _same(line.unsqueeze(-2), values.unsqueeze(-1)), places, 0).amax(-1)
    return values.movedim(-1, dim), last.movedim(-1, dim)
