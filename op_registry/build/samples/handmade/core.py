"""Samples of basic ops that torch's own test inputs do not reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample


@handmade("aten._grouped_mm.default")
def grouped_mm(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield products grouped by rows, columns, shared dimension and depth; one group is empty."""
    if dtype not in {torch.float32, torch.bfloat16, torch.float16}:
        return
    ends = torch.tensor([8, 8, 24, 32], dtype=torch.int32)
    flat, deep = torch.randn(32, 16).to(dtype), torch.randn(4, 16, 24).to(dtype)
    yield call(flat, deep, ends)
    yield call(torch.randn(4, 24, 16).to(dtype), torch.randn(16, 32).to(dtype), ends)
    yield call(torch.randn(16, 32).to(dtype), torch.randn(32, 24).to(dtype), ends)
    yield call(torch.randn(4, 8, 16).to(dtype), deep)


@handmade("aten.as_strided_.default")
def as_strided_(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield a transposed, an overlapping and an offset layout."""
    given = torch.arange(12).reshape(3, 4).to(dtype)
    yield call(given, [4, 3], [1, 4])
    yield call(given, [5, 3], [2, 1])
    yield call(given, [2, 2], [4, 1], 5)


@handmade("aten.bernoulli.p")
def bernoulli(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield a rare, a likely and a certain event."""
    if dtype.is_floating_point:
        for probability in (0.1, 0.7, 1.0):
            yield call(torch.zeros(5, 5).to(dtype), probability)


@handmade("aten.linear_backward.default")
def linear_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield inputs of one, two and three dimensions, and gradients that are not asked for."""
    if dtype not in {torch.float32, torch.bfloat16}:
        return
    for shape, asked in (
        ((2, 4, 8), [True] * 3),
        ((4, 8), [True, True, False]),
        ((8,), [True] * 3),
    ):
        given, weight = torch.randn(shape).to(dtype), torch.randn(5, 8).to(dtype)
        yield call(given, torch.randn(*shape[:-1], 5).to(dtype), weight, asked)


@handmade("aten.copy.default")
def copy(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield a plain copy, one that is broadcast and one that is converted."""
    given = torch.arange(6).reshape(2, 3).to(dtype)
    yield call(torch.zeros(2, 3).to(dtype), given)
    yield call(torch.zeros(4, 2, 3).to(dtype), given[:1])
    yield call(torch.zeros(2, 3).to(dtype), torch.ones(2, 3, dtype=torch.int32))
