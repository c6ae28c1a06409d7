"""Samples of the fused weight norm's backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample


@handmade("aten._weight_norm_interface_backward.default")
def backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients for weights of linear layers and convolutions, normed by first and last."""
    if not dtype.is_floating_point:
        return
    for shape in ((5, 7), (4, 3, 5), (4, 3, 2, 5)):
        for dim in (0, len(shape) - 1):
            v = torch.randn(shape).to(dtype)
            g = torch.rand([size if d == dim else 1 for d, size in enumerate(shape)]).to(dtype)
            weight, norms = torch._weight_norm_interface(v, g, dim)
            yield call(torch.randn_like(weight), v, g, norms, dim)
