"""Samples of linear algebra ops that torch's own test inputs reach under another name only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_DTYPES = (torch.float32, torch.float64, torch.complex64)
_SHAPES = ((1, 1), (4, 4), (2, 3, 3), (0, 0), (2, 1, 5, 5))


@handmade("aten.det.default", "aten.slogdet.default")
def square(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield well-conditioned matrices, one of them after a swap of rows."""
    if dtype in _DTYPES:
        for shape in _SHAPES:
            yield call(_well_conditioned(shape, dtype))
        yield call(_well_conditioned((4, 4), dtype).flip(0))


@handmade("aten._cholesky_solve_helper.default")
def factored(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield right sides with a Cholesky factor, lower and upper."""
    if dtype in _DTYPES:
        for shape in _SHAPES:
            matrix = _well_conditioned(shape, dtype)
            right = torch.randn(*shape[:-1], 2, dtype=dtype)
            yield call(right, matrix.tril(), upper=False)
            yield call(right, matrix.triu(), upper=True)


@handmade("aten.orgqr.default")
def reflectors(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield what QR decompositions of square and tall matrices leave."""
    if dtype in _DTYPES:
        for shape in ((3, 3), (2, 5, 3), (4, 1)):
            yield call(*torch.geqrf(torch.randn(*shape, dtype=dtype)))


@handmade("aten.addbmm_.default")
def batches_into(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield batches of matrices with a tensor for their sum: of its shape, and to be resized.

    None with a column for it: eager reads that where it has written the result already.
    """
    if dtype is not torch.bool:
        for shape in ((3, 4), (4,), (1,)):
            given = (_numbers(one, dtype) for one in (shape, (2, 3, 5), (2, 5, 4)))
            yield call(*given)
        given = (_numbers(one, dtype) for one in ((4,), (2, 3, 5), (2, 5, 4)))
        yield call(*given, beta=2, alpha=3)


def _numbers(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(shape).mul(3).to(dtype)


def _well_conditioned(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype) + 4 * torch.eye(shape[-1], dtype=dtype)
