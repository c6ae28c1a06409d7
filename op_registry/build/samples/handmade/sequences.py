"""Ops that make tensors of numbers in a row; they take none, by which inputs would be found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_CPU = torch.device("cpu")


@handmade("aten.triu_indices.default", "aten.tril_indices.default")
def triangle_indices(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield matrices of several forms, with diagonals inside and outside of them."""
    if dtype in {torch.int32, torch.int64}:
        for row, col, offset in (
            (3, 3, 0),
            (5, 2, 1),
            (2, 5, -1),
            (4, 4, 9),
            (3, 4, -7),
            (0, 3, 0),
        ):
            yield call(row, col, offset, dtype=dtype, device=_CPU)


@handmade("aten.logspace.default")
def logspace(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield rising and falling powers, a single one and none."""
    if dtype is not torch.bool:
        for start, end, steps, base in (
            (0, 3, 4, 10.0),
            (4, 0, 9, 2.0),
            (1, 2, 1, 3.0),
            (0, 1, 0, 2),
        ):
            yield call(start, end, steps, float(base), dtype=dtype, device=_CPU)


@handmade("aten.range.step")
def range_step(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield ranges that do and do not end on their last number."""
    if dtype not in {torch.bool, torch.uint8} and not dtype.is_complex:
        for start, end, step in ((0, 4, 1), (1, 8, 3), (5, -2, -2), (3, 3, 1)):
            yield call(start, end, step, dtype=dtype, device=_CPU)
        if dtype.is_floating_point:
            yield call(0.5, 2.1, 0.25, dtype=dtype, device=_CPU)


def _logspaces(dtype: torch.dtype, *, start: bool, end: bool) -> Iterator[Sample]:
    """Yield powers into a tensor; ``start`` and ``end`` say which exponents are tensors."""
    if dtype is not torch.bool:
        for first, last, steps, base in ((0, 3, 4, 10.0), (5, 1, 9, 2.0)):
            given = [
                torch.tensor(number) if tensor else number
                for number, tensor in ((first, start), (last, end))
            ]
            yield call(*given, steps, base, out=torch.empty(steps, dtype=dtype))


@handmade("aten.logspace.out")
def logspace_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield exponents that are numbers."""
    return _logspaces(dtype, start=False, end=False)


@handmade("aten.logspace.Tensor_Tensor_out")
def logspace_of_tensors_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield exponents that are tensors."""
    return _logspaces(dtype, start=True, end=True)


@handmade("aten.logspace.Tensor_Scalar_out")
def logspace_from_tensor_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield a tensor to start from."""
    return _logspaces(dtype, start=True, end=False)


@handmade("aten.logspace.Scalar_Tensor_out")
def logspace_to_tensor_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield a tensor to end with."""
    return _logspaces(dtype, start=False, end=True)


@handmade("aten.range.out")
def range_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield ranges up and down into a tensor."""
    if dtype not in {torch.bool, torch.uint8, torch.float16} and not dtype.is_complex:
        yield call(1, 8, 3, out=torch.empty(3, dtype=dtype))
        yield call(5, -2, -2, out=torch.empty(4, dtype=dtype))


@handmade("aten.range.default")
def range_one(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield ranges by steps of one."""
    if dtype is not torch.bool and not dtype.is_complex:
        yield call(0, 4, dtype=dtype, device=_CPU)
        yield call(2, 2, dtype=dtype, device=_CPU)
