"""Gradients of reductions over segments: several dimensions, ties, zeros, offsets for lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample


@handmade("aten._segment_reduce_backward.default")
def segment_reduce_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield each reduction over one dimension with another behind it, and over a second one."""
    if not dtype.is_floating_point:
        return
    data = torch.tensor([2.0, 0.0, 3.0, 3.0, 1.0, 0.0, 0.0]).unsqueeze(1).expand(7, 2).to(dtype)
    rows = data.transpose(0, 1).contiguous()
    offsets, lengths = torch.tensor([0, 2, 2, 4, 7]), torch.tensor([[2, 1, 4], [0, 5, 2]])
    for reduce in ("sum", "mean", "max", "min", "prod"):
        output = torch.segment_reduce(data, reduce, offsets=offsets)
        yield call(torch.rand_like(output), output, data.contiguous(), reduce, offsets=offsets)
        output = torch.segment_reduce(rows, reduce, lengths=lengths, axis=1)
        yield call(torch.rand_like(output), output, rows, reduce, lengths=lengths, axis=1)
