"""Pieces of larger ops, which PyTorch calls on some devices or in some programs only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_MATRICES = (
    ((3, 4), (4, 5)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4,)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((6, 3, 4), (4,)),
)


@handmade("aten._masked_scale.default")
def masked_scale(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield masks of bools and of bytes."""
    if dtype.is_floating_point:
        for kind in (torch.bool, torch.uint8):
            mask = torch.tensor([[1, 0, 1], [0, 1, 1]]).to(kind)
            yield call(torch.randn(2, 3).to(dtype), mask, 1.25)


@handmade("aten.matmul_backward.default")
def matmul_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield vectors, matrices and batches that broadcast, and single gradients."""
    if dtype.is_floating_point or dtype.is_complex:
        for left, right in _MATRICES:
            a, b = torch.randn(left).to(dtype), torch.randn(right).to(dtype)
            grad = torch.randn(torch.matmul(a, b).shape).to(dtype)
            yield call(grad, a, b, [True, True])
        yield call(grad, a, b, [True, False])
        yield call(grad, a, b, [False, True])


@handmade("aten._transform_bias_rescale_qkv.default")
def transform_bias_rescale_qkv(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield one head and several."""
    if dtype.is_floating_point:
        for heads in (1, 4):
            yield call(torch.randn(2, 3, 24).to(dtype), torch.randn(24).to(dtype), heads)


@handmade("aten._compute_linear_combination.default")
def compute_linear_combination(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield matrices and the weights that combine them, real as in matrix exponentials."""
    if dtype.is_floating_point or dtype.is_complex:
        yield call(torch.randn(3, 2, 4, dtype=dtype), torch.randn(5, 3, dtype=dtype.to_real()))


@handmade("aten._compute_linear_combination.out")
def compute_linear_combination_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same into tensors that hold something already: sums are added to it."""
    for sample in compute_linear_combination(dtype):
        yield call(*sample.args, out=torch.randn(5, 2, 4, dtype=dtype))


@handmade("aten._make_dep_token.default")
def make_dep_token(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield a token of the dtype."""
    yield call(dtype=dtype, device=torch.device("cpu"))


@handmade("aten._functional_assert_async.msg")
def functional_assert_async(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield a condition that holds."""
    if not dtype.is_complex:
        yield call(torch.ones((), dtype=dtype), "it holds", torch.zeros(()))
