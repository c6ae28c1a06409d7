"""Reductions that PyTorch keeps for itself, so that its own inputs do not reach them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample


@handmade("aten._aminmax.default")
def aminmax(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield tensors of several ranks."""
    if not dtype.is_complex:
        for shape in ((), (5,), (3, 4)):
            yield call((10 * torch.randn(shape)).to(dtype))


@handmade("aten._aminmax.dim")
def aminmax_dim(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield reductions over one dimension, kept or not."""
    if not dtype.is_complex:
        for shape, dim, keepdim in (((5,), 0, False), ((3, 4), 1, True), ((2, 3, 4), -2, False)):
            yield call((10 * torch.randn(shape)).to(dtype), dim, keepdim)


@handmade("aten.histc.default")
def counts(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield numbers of experts, which the CPU does not count and accelerators do."""
    if dtype in {torch.int32, torch.int64}:
        for experts in (8, 60):
            yield call(torch.randint(experts, (32,)).to(dtype), experts, 0, experts - 1)
