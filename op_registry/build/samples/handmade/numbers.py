"""Elementwise ops of a tensor and a number, for which torch's own inputs take tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_TAKEN = (torch.float32, torch.float64, torch.int64, torch.int32, torch.int8, torch.uint8)
"""Dtypes that eager takes."""


@handmade("aten.special_xlog1py.self_scalar", "aten.special_zeta.self_scalar")
def number_first(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield a number against positive elements."""
    if dtype in _TAKEN:
        for number in (0, 2, 2.5):
            yield call(number, torch.tensor([0.25, 1, 3, 7]).to(dtype))


@handmade("aten.special_xlog1py.other_scalar", "aten.special_zeta.other_scalar")
def number_second(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield positive elements against a number."""
    if dtype in _TAKEN:
        for number in (1, 3, 0.5):
            yield call(torch.tensor([0, 1, 1.5, 4]).to(dtype), number)


@handmade("aten.copysign.Scalar")
def copysign(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield magnitudes for a negative number, for minus zero and for a positive one."""
    if not dtype.is_complex:
        for number in (-2, -0.0, 3.5):
            yield call(torch.tensor([0, 1, 5]).to(dtype), number)
