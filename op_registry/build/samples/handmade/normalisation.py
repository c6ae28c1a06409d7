"""Samples of normalisations without running statistics, and of backward ops around them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_SHAPES = ((2, 3, 4, 5), (4, 3, 5), (6, 3))
_EPS, _MOMENTUM, _TRAINING = 1e-5, 0.1, True


@handmade("aten._native_batch_norm_legit.no_stats")
def without_statistics(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield inputs of two to four dimensions, with weight and bias and without."""
    for shape, plain in itertools.product(_SHAPES, (False, True)):
        if dtype.is_floating_point:
            factor, shift = (None if plain else torch.rand(3).to(dtype) for _ in range(2))
            yield call(torch.randn(shape).to(dtype), factor, shift, _TRAINING, _MOMENTUM, _EPS)


@handmade("aten._batch_norm_no_update.default")
def without_update(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield inputs with running statistics, which stay as they are."""
    for shape in _SHAPES if dtype.is_floating_point else ():
        weights = [torch.rand(3).to(dtype) for _ in range(4)]
        yield call(torch.randn(shape).to(dtype), *weights, _MOMENTUM, _EPS)


@handmade("aten._fused_rms_norm_backward.default")
def rms_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients with and without a weight, over one dimension and over two."""
    for dims, weighted in itertools.product((1, 2), (True, False)):
        if not dtype.is_floating_point:
            return
        x = torch.randn(2, 3, 4)
        axes = tuple(range(3 - dims, 3))
        rstd = x.square().mean(axes, keepdim=True).add(_EPS).rsqrt()
        rstd = rstd.double() if dtype is torch.float64 else rstd
        inner = list(x.shape[3 - dims :])
        weight = torch.rand(inner).to(dtype) if weighted else None
        given = torch.randn(2, 3, 4).to(dtype), x.to(dtype)
        yield call(*given, inner, rstd, weight, [True, weighted])


@handmade("aten.native_norm.default")
def norm(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield several orders of the norm."""
    for order in (2, 1, 3) if dtype.is_floating_point or dtype.is_complex else ():
        yield call(torch.randn(3, 4).to(dtype), order)


@handmade("aten.native_norm.ScalarOpt_dim_dtype")
def norm_of_dimensions(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield norms over one dimension, kept and not."""
    for keep in (False, True) if dtype.is_floating_point or dtype.is_complex else ():
        yield call(torch.randn(3, 4).to(dtype), 2, [1], keep, None)


@handmade("aten.linear_backward.default")
def linear(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of all three, of the input alone, of a stack of matrices."""
    shapes = (((3, 4), (3, 5)), ((2, 3, 4), (2, 3, 5)))
    for (given, result), mask in itertools.product(shapes, ((True,) * 3, (True, False, False))):
        if dtype.is_floating_point or dtype.is_complex:
            x, gradient = torch.randn(given).to(dtype), torch.randn(result).to(dtype)
            yield call(x, gradient, torch.randn(5, 4).to(dtype), list(mask))
