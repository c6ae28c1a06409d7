"""Ops whose result's shape the values decide: they read one count from the device first."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels.core_gather import pick

_SOURCE = "definition"
_EXACT = "exact: values are moved or counted, not computed"
_COUNT = "the values decide how many there are"
_MOST = 2000


def _places(mask: torch.Tensor, count: int) -> torch.Tensor:
    """Return where ``mask`` (one dimension) holds, in order; ``count`` is how often it does."""
    before = mask.cumsum(0) - 1
    hits = mask & (before == torch.arange(count, device=mask.device).unsqueeze(-1))
    return pick(torch.arange(mask.shape[0], device=mask.device), hits)


@kernel(
    "aten.nonzero.default", source=_SOURCE, accuracy=_EXACT, dynamic=_COUNT, most_elements=_MOST
)
def nonzero(self: torch.Tensor) -> torch.Tensor:
    """Return the indices of the elements that are not zero, (count, dimensions), in order."""
    mask = (self != 0).reshape(-1)
    flat = _places(mask, int(mask.sum()))
    columns = []
    for size in reversed(self.shape):
        columns.append(flat % size)
        flat = torch.div(flat, size, rounding_mode="floor")
    return torch.stack(columns[::-1], -1) if columns else flat.new_empty((flat.shape[0], 0))


@kernel(
    "aten.repeat_interleave.Tensor",
    source=_SOURCE,
    accuracy=_EXACT,
    dynamic=_COUNT + ", unless output_size says so",
    samples=("repeat_interleave",),
)
def repeat_interleave(repeats: torch.Tensor, *, output_size: int | None = None) -> torch.Tensor:
    """Return each index of ``repeats`` (one dimension) as often as ``repeats`` says."""
    if repeats.dim() != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    ends = repeats.cumsum(0)
    size = int(repeats.sum()) if output_size is None else output_size
    places = torch.arange(size, device=repeats.device)
    return (ends <= places.unsqueeze(-1)).sum(-1).to(repeats.dtype)


@kernel(
    "aten.bincount.default",
    source=_SOURCE,
    accuracy="weights add up as in `sum`",
    dynamic="the largest value decides how many bins there are",
    nonfinite="weights that are not finite: eager adds them where they hit, as this does",
)
def bincount(
    self: torch.Tensor, weights: torch.Tensor | None = None, minlength: int = 0
) -> torch.Tensor:
    """Return how often each value from 0 on is in ``self`` (one dimension), or its weights' sum."""
    if self.dim() != 1:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    bins = max(minlength, int(self.amax()) + 1 if self.numel() else 0)
    hits = self == torch.arange(bins, device=self.device).unsqueeze(-1)
    if weights is None:
        return hits.sum(-1)
    if not weights.dtype.is_floating_point:
        weights = weights.double()
    return torch.where(hits, weights, torch.zeros_like(weights)).sum(-1)


@kernel(
    "aten.unique_consecutive.default",
    source=_SOURCE,
    accuracy=_EXACT,
    dynamic=_COUNT,
    most_elements=_MOST,
)
def unique_consecutive(
    self: torch.Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the first of each run of equal elements (or slices along ``dim``).

    With them, where asked for, which run each element is in, and how long each run is.
    """
    lines = self.reshape(-1, 1) if dim is None else self.movedim(dim, 0).unsqueeze(-1).flatten(1)
    count = lines.shape[0]
    new = torch.cat(
        [
            torch.ones(min(count, 1), dtype=torch.bool, device=self.device),
            (lines[1:] != lines[:-1]).any(-1),
        ]
    )
    firsts = _places(new, int(new.sum()))
    inverse = new.cumsum(0) - 1
    if dim is None:
        values, inverse = self.reshape(-1)[firsts], inverse.reshape(self.shape)
    else:
        values = self.index_select(dim, firsts)
    ends = torch.cat([firsts[1:], firsts.new_full((min(count, 1),), count)])
    counts, none = ends - firsts, firsts.new_empty(0)
    if dim is not None and (self.dim(), dim) != (1, 0):  # eager returns them, asked for or not
        return values, inverse, counts
    return values, inverse if return_inverse else none, counts if return_counts else none


@kernel(
    "aten._unique2.default",
    source="definition: the runs of the sorted elements",
    accuracy=_EXACT,
    dynamic=_COUNT,
    samples=("unique",),
    most_elements=_MOST,
)
def unique2(
    self: torch.Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the distinct elements in order, which of them each is, and how often each occurs."""
    del sorted  # in order is one of the orders
    ordered, came_from = torch.sort(self.reshape(-1), stable=True)
    values, runs, counts = unique_consecutive(
        ordered, return_inverse=True, return_counts=return_counts
    )
    none = runs.new_empty(0)
    if not return_inverse:
        return values, none, counts
    inverse = torch.zeros_like(runs).scatter(0, came_from, runs)
    return values, inverse.reshape(self.shape), counts
