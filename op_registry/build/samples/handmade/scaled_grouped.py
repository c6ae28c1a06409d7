"""Samples of grouped products of 8-bit floats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_FORM = torch.float8_e4m3fn
_ENDS = torch.tensor([16, 16, 48], dtype=torch.int32)
_RECIPE = ([1], [0])
"""One scale a row, stored as it is."""


@handmade("aten._scaled_grouped_mm_v2.default")
def grouped(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield groups of rows, of the inner dimension, of columns, and whole matrices."""
    if dtype != torch.bfloat16:
        return
    for left, right, rows, columns, ends in (
        ((48, 32), (3, 16, 32), (48,), (3, 16), _ENDS),
        ((32, 48), (16, 48), (3 * 32,), (3 * 16,), _ENDS),
        ((3, 32, 16), (48, 16), (3, 32), (48,), _ENDS),
        ((3, 32, 16), (3, 16, 16), (3, 32), (3, 16), None),
    ):
        a, b = (torch.randn(shape).to(_FORM) for shape in (left, right))
        one, other = torch.rand(rows), torch.rand(columns)
        yield call(a, b.mT, [one], *_RECIPE, [other], *_RECIPE, offs=ends)
