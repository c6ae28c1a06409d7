"""Samples of the fused weight norm and its backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample


@handmade("aten._weight_norm_interface.default")
def forward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield weights of linear layers and convolutions, normed by first and last dimension."""
    if dtype.is_floating_point:
        yield from (call(*given) for given in _weights(dtype))


@handmade("aten._weight_norm_interface_backward.default")
def backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients for the same weights."""
    if dtype.is_floating_point:
        for v, g, dim in _weights(dtype):
            weight, norms = torch._weight_norm_interface(v, g, dim)
            yield call(torch.randn_like(weight), v, g, norms, dim)


def _weights(dtype: torch.dtype) -> Iterator[tuple[torch.Tensor, torch.Tensor, int]]:
    for shape in ((5, 7), (4, 3, 5), (4, 3, 2, 5)):
        for dim in (0, len(shape) - 1):
            v = torch.randn(shape).to(dtype)
            g = torch.rand([size if d == dim else 1 for d, size in enumerate(shape)]).to(dtype)
            yield v, g, dim
