"""``mode``: the most frequent value."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._sorting import (
    Pair,
    any_index,
    check_reduced,
    picked,
    sorted_along,
)


@kernel(
    "aten.mode.default",
    source="lengths of runs in the sorted input",
    accuracy="exact; the index is that of the last of equal elements, eager's of any",
    canonical=any_index,
    nonfinite="eager sorts by a comparison that NaN breaks: its result depends on how they stand",
)
def mode(self: torch.Tensor, dim: int = -1, keepdim: bool = False) -> Pair:
    """Return the most frequent values along ``dim``, and where they stand last.

    Of values equally frequent it is the smallest. Every NaN counts as a value of its own, larger
    than all numbers.
    """
    dim = check_reduced("mode()", self, dim)
    ordered = sorted_along(self, dim)
    if self.dim() == 0:
        return ordered
    # The first of the longest runs ends where the length so far is the largest of all.
    longest = _lengths(ordered[0], dim).argmax(dim, keepdim=True)
    return picked(ordered, longest, dim, keepdim=keepdim)


def _lengths(ordered: torch.Tensor, dim: int) -> torch.Tensor:
    """Return for each element of sorted rows how many equal ones come before it."""
    size = ordered.shape[dim]
    shape = [size if place == dim else 1 for place in range(ordered.dim())]
    places = torch.arange(size, dtype=torch.int32, device=ordered.device).reshape(shape)
    before = ordered.narrow(dim, 0, size - 1)
    starts = ordered.narrow(dim, 1, size - 1) != before
    starts = torch.cat([torch.ones_like(ordered.narrow(dim, 0, 1), dtype=torch.bool), starts], dim)
    return places - torch.where(starts, places, 0).cummax(dim).values
