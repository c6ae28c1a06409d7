"""Samples of the max pools that torch's own test inputs do not reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_POOLS = (
    # kernel, stride, padding, dilation, ceil_mode
    ((2, 2), (), (0, 0), (1, 1), False),
    ((3, 3), (2, 2), (1, 1), (1, 1), False),
    ((3, 2), (2, 1), (1, 0), (1, 2), True),
)


@handmade("aten.max_pool2d_backward.default")
def max_pool2d_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of pools over distinct elements, batched and not."""
    if not dtype.is_floating_point:
        return
    for shape in ((2, 3, 9, 8), (3, 9, 8)):
        for pool in _POOLS:
            x = torch.randperm(2 * 3 * 9 * 8)[: torch.Size(shape).numel()].reshape(shape).to(dtype)
            pooled = torch.max_pool2d(x, *pool)
            yield call(torch.randn_like(pooled), x, *pool)
