"""Samples of matrix products whose result is wider than their factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade, into

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_HALVES = (torch.bfloat16, torch.float16)
_WIDE = torch.float32
_LEFT, _RIGHT, _SUM = (3, 4), (4, 5), (3, 5)


@handmade("aten.mm.dtype")
def product(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield products of half precision with a result in float32."""
    if dtype in _HALVES:
        yield call(torch.randn(*_LEFT).to(dtype), torch.randn(*_RIGHT).to(dtype), _WIDE)


@handmade("aten.mm.dtype_out")
def product_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same with an output."""
    yield from into(product(dtype), out=_WIDE)


@handmade("aten.bmm.dtype")
def batch(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same for a batch."""
    if dtype in _HALVES:
        yield call(torch.randn(2, *_LEFT).to(dtype), torch.randn(2, *_RIGHT).to(dtype), _WIDE)


@handmade("aten.bmm.dtype_out")
def batch_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same with an output."""
    yield from into(batch(dtype), out=_WIDE)


@handmade("aten.addmm.dtype")
def with_addend(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same with something to add, in the factors' dtype."""
    if dtype in _HALVES:
        yield call(
            torch.randn(*_SUM).to(dtype),
            torch.randn(*_LEFT).to(dtype),
            torch.randn(*_RIGHT).to(dtype),
            _WIDE,
        )


@handmade("aten.addmm.dtype_out")
def with_addend_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same with an output."""
    yield from into(with_addend(dtype), out=_WIDE)


@handmade("aten.baddbmm.dtype")
def batch_with_addend(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same for a batch."""
    if dtype in _HALVES:
        yield call(
            torch.randn(2, *_SUM).to(dtype),
            torch.randn(2, *_LEFT).to(dtype),
            torch.randn(2, *_RIGHT).to(dtype),
            _WIDE,
        )


@handmade("aten.baddbmm.dtype_out")
def batch_with_addend_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same with an output."""
    yield from into(batch_with_addend(dtype), out=_WIDE)
