"""Sums, means and maxima of bags of rows of a table."""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._vjp import wide

_SUM, _MEAN, _MAX = range(3)


def _values(result: Any, *args: Any, **kwargs: Any) -> Any:
    """Leave what only the backward reads: eager fills it or not, as its fast paths need it."""
    del args, kwargs
    return result[0]


@kernel(
    "aten._embedding_bag.default",
    "aten._embedding_bag_forward_only.default",
    source="definition",
    accuracy="as `sum`, in float32 for shorter types",
    canonical=_values,
    samples=("nn.functional.embedding_bag",),
    nonfinite="which of several NaNs is a bag's largest is not defined",
)
def embedding_bag(
    weight: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: torch.Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return for each bag the sum (mode 0), mean (1) or maximum (2) of rows of ``weight`` (n, d).

    ``indices`` (k) name the rows of all bags; bag i starts at ``offsets[i]``. Rows count by
    ``per_sample_weights``; those at ``padding_idx`` do not. With the bags (b, d) come the bag of
    each index, the rows that count in each bag, and for maxima where they come from.
    """
    del scale_grad_by_freq, sparse  # of the gradient
    starts = offsets[:-1] if include_last_offset else offsets
    places = torch.arange(indices.shape[0], device=indices.device)
    bags = torch.arange(starts.shape[0], device=indices.device).unsqueeze(-1)
    owner = (places.unsqueeze(-1) >= starts).sum(-1) - 1
    inside = (owner == bags) & (
        indices != (padding_idx % weight.shape[0] if padding_idx >= 0 else -1)
    )
    rows = wide(weight).index_select(0, indices)
    if per_sample_weights is not None:
        rows = rows * wide(per_sample_weights).unsqueeze(-1)
    size = inside.sum(-1).to(offsets.dtype)
    held = torch.where(inside.unsqueeze(-1), rows, torch.zeros_like(rows))
    highest = torch.zeros(0, dtype=offsets.dtype, device=offsets.device)
    if mode == _MAX:
        lowest = torch.full_like(rows, -torch.inf)
        found = (
            torch.where(inside.unsqueeze(-1), rows, lowest).amax(1) if len(places) else held.sum(1)
        )
        result = torch.where((size > 0).unsqueeze(-1), found, torch.zeros_like(found))
    else:
        result = held.sum(1)
        if mode == _MEAN:
            result = result / size.clamp_min(1).unsqueeze(-1)
    return result.to(weight.dtype), owner.to(offsets.dtype), size, highest
