"""Samples of matrix products with scaled float8 factors, and of grouped products.

They count at the dtype of their result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade, into

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_RESULTS = (torch.float32, torch.bfloat16, torch.float16)
_ROWS, _INNER, _COLUMNS = 16, 32, 48
_BLOCK = 32
_TENSOR_WISE, _ROW_WISE, _BLOCK_1X16, _BLOCK_1X32 = 0, 1, 2, 3


def _float8(*shape: int) -> torch.Tensor:
    return torch.randn(shape).to(torch.float8_e4m3fn)


def _scale(*shape: int) -> torch.Tensor:
    return torch.rand(shape).add(0.5)


@handmade("aten._scaled_mm.default")
def scaled(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield one scale for all, one a row, each with and without a bias."""
    for bias in (None, torch.randn(_COLUMNS).to(dtype)) if dtype in _RESULTS else ():
        given = _float8(_ROWS, _INNER), _float8(_COLUMNS, _INNER).t()
        yield call(*given, _scale(), _scale(), bias, None, dtype)
        yield call(*given, _scale(_ROWS, 1), _scale(1, _COLUMNS), bias, None, dtype)


@handmade("aten._scaled_mm.out")
def scaled_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same with an output."""
    yield from into(scaled(dtype), out=dtype)


@handmade("aten._scaled_mm_v2.default")
def scaled_by_recipe(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the recipes: one scale for all, one a row, one a block of 16 or 32 elements."""
    if dtype not in _RESULTS:
        return
    given = _float8(_ROWS, 2 * _BLOCK), _float8(_COLUMNS, 2 * _BLOCK).t()
    for recipe, rows, columns in (
        (_TENSOR_WISE, (), ()),
        (_ROW_WISE, (_ROWS, 1), (1, _COLUMNS)),
        (_BLOCK_1X16, (_ROWS, 4), (4, _COLUMNS)),
        (_BLOCK_1X32, (_ROWS, 2), (2, _COLUMNS)),
    ):
        left, right = ([_scale(*rows)], [recipe], [0]), ([_scale(*columns)], [recipe], [0])
        yield call(*given, *left, *right, None, dtype)


@handmade("aten._scaled_mm_v2.out")
def scaled_by_recipe_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same with an output."""
    yield from into(scaled_by_recipe(dtype), out=dtype)


@handmade("aten._scaled_grouped_mm.default")
def scaled_grouped(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield two groups of rows with a scale for each row and column."""
    if dtype in _RESULTS:
        ends = torch.tensor([7, _ROWS], dtype=torch.int32)
        factors = _float8(_ROWS, _INNER), _float8(2, _COLUMNS, _INNER).transpose(1, 2)
        yield call(*factors, _scale(_ROWS), _scale(2, _COLUMNS), ends, None, None, dtype)
        yield call(*factors, _scale(), _scale(), ends, None, None, dtype)
