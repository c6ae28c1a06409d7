"""Samples of attention at sizes that models have, where the choice of the kernel is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_HEADS = 2


def _given(
    dtype: torch.dtype, rows: int, keys: int, width: int, *, shared: bool = False
) -> tuple[torch.Tensor, ...]:
    heads = (_HEADS, 1 if shared else _HEADS, 1 if shared else _HEADS)
    lengths = (rows, keys, keys)
    return tuple(torch.randn(1, h, n, width).to(dtype) for h, n in zip(heads, lengths, strict=True))


@handmade("aten.scaled_dot_product_attention.default")
def attention(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield head widths of 64, 80 and 128, masks of both kinds, shared heads, other lengths."""
    if not dtype.is_floating_point:
        return
    yield call(*_given(dtype, 128, 128, 64), is_causal=True)
    yield call(*_given(dtype, 128, 128, 128))
    allowed = torch.rand(128, 128).gt(0.2) | torch.eye(128, dtype=torch.bool)
    yield call(*_given(dtype, 128, 128, 64), allowed)
    yield call(*_given(dtype, 128, 128, 64), torch.randn(1, _HEADS, 128, 128).to(dtype))
    yield call(*_given(dtype, 128, 128, 64, shared=True), is_causal=True, enable_gqa=True)
    yield call(*_given(dtype, 1, 96, 64), scale=0.1)
    yield call(*_given(dtype, 60, 60, 80))
