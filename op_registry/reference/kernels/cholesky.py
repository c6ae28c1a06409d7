"""``cholesky``: the lower triangular L, or the upper U, with A = L L^H = U^H U.

Blocks of 32 columns: a block on the diagonal is factored column by column, the rows below it by a
triangular solve, and what is left of the matrix loses their product. The work is the usual n^3 / 3,
but the program grows with n, by about 21 StableHLO ops a column: n = 256 is 5,400. Products are
sums of elementwise products, which a TPU computes in full float32.
"""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._matrices import (
    INFINITE,
    adjoint,
    applied,
    check_precise,
    check_square,
    conj,
    padded,
    real,
    substituted,
)

_BLOCK = 32
_SOURCE = "right-looking blocked Cholesky (Golub & Van Loan, 4.2)"
_ACCURACY = "backward stable in the dtype; NaN from the first column that is not positive definite"


@kernel("aten.linalg_cholesky_ex.default", source=_SOURCE, accuracy=_ACCURACY, nonfinite=INFINITE)
def linalg_cholesky_ex(
    self: torch.Tensor, *, upper: bool = False, check_errors: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the factor of (..., n, n) ``self`` and, as int32 (...), where it failed.

    Only the named triangle is read. ``info`` is 0, or the order of the first leading minor that is
    not positive; from there on the factor is NaN, where eager leaves it unfinished.
    ``check_errors`` is ignored: it would wait for the device.
    """
    del check_errors
    return _factored("linalg.cholesky_ex", self, upper)


@kernel("aten.cholesky.default", source=_SOURCE, accuracy=_ACCURACY, nonfinite=INFINITE)
def cholesky(self: torch.Tensor, upper: bool = False) -> torch.Tensor:
    """Return the factor of (..., n, n) ``self``, NaN where eager would raise."""
    return _factored("cholesky", self, upper)[0]


@kernel("aten.linalg_cholesky.default", source=_SOURCE, accuracy=_ACCURACY, nonfinite=INFINITE)
def linalg_cholesky(self: torch.Tensor, *, upper: bool = False) -> torch.Tensor:
    """Return the factor of (..., n, n) ``self``, NaN where eager would raise."""
    factor: torch.Tensor = applied(_Cholesky, self, upper)
    return factor


class _Cholesky(torch.autograd.Function):
    """The factor with the gradient of Murray (2016): all of matrix products and solves."""

    @staticmethod
    def forward(ctx: Any, matrix: torch.Tensor, upper: bool) -> torch.Tensor:
        factor, _ = _factored("linalg.cholesky", matrix, upper)
        ctx.save_for_backward(factor)
        ctx.upper = upper
        return factor

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        (factor,), (grad,) = ctx.saved_tensors, grads
        lower, grad = (adjoint(factor), adjoint(grad)) if ctx.upper else (factor, grad)
        inner = (adjoint(lower) @ grad).tril()
        inner = 0.5 * (inner + adjoint(inner.tril(-1)))
        outer = substituted(adjoint(lower), inner, upper=True)
        return substituted(lower, outer, upper=False, left=False), None


def _factored(name: str, matrix: torch.Tensor, upper: bool) -> tuple[torch.Tensor, torch.Tensor]:
    check_square(name, matrix)
    check_precise(name, matrix)
    batch, n = matrix.shape[:-2], matrix.shape[-1]
    if 0 in matrix.shape:
        return matrix.clone(), torch.zeros(batch, dtype=torch.int32, device=matrix.device)
    rest = adjoint(matrix) if upper else matrix
    panels, pivots = [], []
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        head, found = _columns(rest[..., :size, :size])
        pivots += found
        below = substituted(adjoint(head), rest[..., size:, :size], upper=True, left=False)
        panels.append(padded(torch.cat([head, below], -2), top=start))
        product = (below.unsqueeze(-2) * conj(below).unsqueeze(-3)).sum(-1)
        rest = rest[..., size:, size:] - product
    lower = torch.cat(panels, -1)
    return (adjoint(lower) if upper else lower), _info(torch.stack(pivots, -1))


def _columns(block: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Return the factor of a small (..., b, b) block and the square of each diagonal element."""
    columns, pivots = [], []
    for place in range(block.shape[-1]):
        pivot = real(block[..., :1, :1])
        column = block[..., :1] / pivot.sqrt()
        columns.append(padded(column, top=place))
        pivots.append(pivot[..., 0, 0])
        below = column[..., 1:, :]
        block = block[..., 1:, 1:] - below * adjoint(below)
    return torch.cat(columns, -1), pivots


def _info(pivots: torch.Tensor) -> torch.Tensor:
    """Return as int32 the first of (..., n) ``pivots`` that is not positive, from 1; 0 if none."""
    n = pivots.shape[-1]
    order = torch.arange(1, n + 1, dtype=torch.int32, device=pivots.device)
    first = torch.where(pivots > 0, n + 1, order).amin(-1)
    return torch.where(first > n, 0, first).to(torch.int32)
