"""Samples of lookups and writes by index, in forms that torch's inputs leave out."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_WHOLE = (torch.int32, torch.int64)


def _has_order(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype in _WHOLE


@handmade("aten.scatter.value_reduce", "aten.scatter_.value_reduce")
def scatter_number(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield a number that is added to elements or multiplies them, no element twice."""
    places = torch.tensor([[0, 2, 1], [2, 0, 0]])
    for reduce, dim in itertools.product(("add", "multiply"), (0, 1)):
        if dtype is not torch.bool:
            yield call(torch.arange(12).view(3, 4).to(dtype), dim, places, 2, reduce=reduce)


@handmade("aten.isin.Scalar_Tensor")
def number_in(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield numbers that are among the elements, and that are not."""
    for number, inverted in itertools.product((2, 9), (False, True)):
        if _has_order(dtype):
            yield call(number, torch.arange(6).view(2, 3).to(dtype), invert=inverted)


@handmade("aten.isin.Tensor_Scalar")
def elements_equal(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield elements of which one, or none, is the number."""
    for number, inverted in itertools.product((2, 9), (False, True)):
        if _has_order(dtype):
            yield call(torch.arange(6).view(2, 3).to(dtype), number, invert=inverted)


@handmade("aten.searchsorted.Scalar")
def place_of_number(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield numbers before, among and behind the elements, for both sides of equal ones."""
    for number, right in itertools.product((-1, 2, 9), (False, True)):
        if _has_order(dtype):
            yield call(torch.arange(6).to(dtype), number, right=right)


@handmade("aten._copy_from.default")
def copied(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield a copy of the same shape, and one that is broadcast."""
    for shape in ((3, 4), (4,)):
        source = torch.arange(4).expand(shape).to(dtype)
        yield call(source, torch.ones(3, 4).to(dtype))
