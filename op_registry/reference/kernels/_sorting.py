"""Sorted rows, and picking elements of them: what order statistics share."""

from __future__ import annotations

from typing import Any

import torch

Pair = tuple[torch.Tensor, torch.Tensor]


def check_reduced(name: str, self: torch.Tensor, dim: int) -> int:
    """Return ``dim`` counted from the front.

    Raises IndexError when there is no such dimension, or when it has no elements.
    """
    rank = max(self.dim(), 1)
    if not -rank <= dim < rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], "
            f"but got {dim})"
        )
    if self.dim() and self.shape[dim] == 0:
        raise IndexError(f"{name}: Expected reduction dim {dim} to have non-zero size.")
    return dim % rank


def sorted_along(self: torch.Tensor, dim: int) -> Pair:
    """Return ``self`` sorted along ``dim``, NaN last whatever its sign bit, and the indices.

    A tensor without dimensions is in order whatever its dtype: complex ones are taken too.
    """
    if self.dim() == 0:
        return self.clone(), torch.zeros((), dtype=torch.int64, device=self.device)
    if self.is_floating_point():
        self = torch.where(self.isnan(), float("nan"), self)
    return torch.sort(self, dim=dim, stable=True)


def picked(ordered: Pair, place: Any, dim: int, *, keepdim: bool) -> Pair:
    """Return values and indices at ``place``: an index along ``dim``, or a tensor of such with it.

    A tensor of places has size one along ``dim``.
    """
    values, indices = ordered
    if values.dim() == 0:
        return values, indices
    if isinstance(place, torch.Tensor):
        pair = values.gather(dim, place), indices.gather(dim, place)
    else:
        pair = values.narrow(dim, place, 1), indices.narrow(dim, place, 1)
    return pair if keepdim else (pair[0].squeeze(dim), pair[1].squeeze(dim))


def any_index(result: Pair, self: torch.Tensor, *rest: Any, **named: Any) -> Pair:
    """Return the values of ``result`` and what is found at its indices, which ties leave open.

    So do they the gradient: where there are ties none goes back. ``rest`` and ``named`` hold dim
    and keepdim, after ``k`` where the op has it.
    """
    values, indices = result
    if self.dim() == 0 or values.numel() == 0:
        return result
    integers = [value for value in rest if not isinstance(value, bool)]
    dim = named.get("dim", integers[-1] if integers else -1)
    keepdim = values.dim() == self.dim()
    at = indices if keepdim else indices.unsqueeze(dim)
    found = self.gather(dim, at)
    ties = (self == found).sum(dim, keepdim=True) > 1
    if not keepdim:
        found, ties = found.squeeze(dim), ties.squeeze(dim)
    return torch.where(ties, values.detach(), values), torch.where(ties, found.detach(), found)
