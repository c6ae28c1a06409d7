"""Order: sorting by counting how many elements come before each, and what follows from it."""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels.core_gather import pick

_SOURCE = "definition: an element's place is the number of elements before it"
_EXACT = "exact: values are moved, not computed"
_MOST = 1000


def _before(first: torch.Tensor, second: torch.Tensor, *, descending: bool) -> torch.Tensor:
    """Tell where ``first`` comes strictly before ``second``; NaN counts as the largest."""
    if first.dtype is torch.bool:
        first, second = first.to(torch.int8), second.to(torch.int8)
    if descending:
        first, second = second, first
    less = first < second
    if first.dtype.is_floating_point:
        less = less | (second.isnan() & ~first.isnan())
    return less


def _sorted_choice(
    result: Any, self: torch.Tensor, dim: int = -1, *args: Any, **kwargs: Any
) -> Any:
    """Return values, and what the indices point at: which of equal elements is free to choose."""
    del args, kwargs
    values, indices = result
    return values, self if self.dim() == 0 else self.gather(dim, indices)


def _asked_order(
    result: Any, self: torch.Tensor, *, stable: bool | None, dim: int = -1, **kwargs: Any
) -> Any:
    """Return ``result`` as it is where ``stable`` fixes the indices."""
    return result if stable else _sorted_choice(result, self, dim, **kwargs)


def _chosen(result: Any, self: torch.Tensor, k: int, dim: int = -1, *args: Any, **kw: Any) -> Any:
    """Do the same for the arguments of topk, which need not be in order either."""
    del k, args, kw
    values, indices = result
    chosen = self if self.dim() == 0 else self.gather(dim, indices)
    return values.sort(dim).values, chosen.sort(dim).values


@kernel(
    "aten.sort.default",
    source=_SOURCE,
    accuracy=_EXACT + "; equal elements keep their order",
    canonical=_sorted_choice,
    most_elements=_MOST,
    nonfinite="with equal NaNs the index is free to choose",
)
def sort(
    self: torch.Tensor, dim: int = -1, descending: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ``self`` in order along ``dim``, and the index each element came from."""
    return sort_stable(self, stable=True, dim=dim, descending=descending)


@kernel(
    "aten.sort.stable",
    source=_SOURCE,
    accuracy=_EXACT,
    canonical=_asked_order,
    most_elements=_MOST,
)
def sort_stable(
    self: torch.Tensor, *, stable: bool | None, dim: int = -1, descending: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ``self`` in order along ``dim``, and the index each element came from.

    Equal elements keep their order, whether ``stable`` asks for it or not.
    """
    del stable
    if self.dim() == 0:
        return self.clone(), torch.zeros((), dtype=torch.int64, device=self.device)
    line = self.movedim(dim, -1)
    size = line.shape[-1]
    places = torch.arange(size, device=self.device)
    ours, others = line.unsqueeze(-1), line.unsqueeze(-2)
    earlier = _before(others, ours, descending=descending)
    alike = ~earlier & ~_before(ours, others, descending=descending)
    rank = (earlier | (alike & (places < places.unsqueeze(-1)))).sum(-1)
    found = rank.unsqueeze(-2) == places.unsqueeze(-1)
    return pick(others, found).movedim(-1, dim), pick(places, found).movedim(-1, dim)


@kernel(
    "aten.topk.default",
    source="definition: the first of the sorted elements",
    accuracy=_EXACT + "; which of equal elements is taken is not defined",
    canonical=_chosen,
    nonfinite="with equal NaNs the index is free to choose",
)
def topk(
    self: torch.Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the ``k`` largest (or smallest) elements along ``dim`` and their indices, in order."""
    del sorted  # in order is one of the orders
    size = self.shape[dim] if self.dim() else 1
    if not 0 <= k <= size:
        raise RuntimeError(f"selected index k out of range: {k} of {size}")
    values, indices = sort_stable(self, stable=True, dim=dim, descending=largest)
    if self.dim() == 0:
        return values, indices
    return values.narrow(dim, 0, k), indices.narrow(dim, 0, k)
