"""Determinants, from the backend's LU decomposition with partial pivoting.

Their gradient needs the inverse, and PyTorch's formula takes it from ``linalg_lu_solve``, whose
kernel waits for the host. Here the identity is eliminated along with the matrix instead: the LU
decomposition of (A | I) is (U | L^-1 P), and one triangular solve is left.
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
    identity,
    substituted,
)

_SOURCE = "product of the pivots of Gaussian elimination"
_ACCURACY = "that of the LU decomposition: rounding times the growth of the pivots"
_HOST = "the formula calls linalg_lu_solve, whose TPU kernel waits for the host"


@kernel(
    "aten._linalg_det.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=INFINITE,
    own_gradient=_HOST,
)
def linalg_det_parts(A: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the determinants (...) of (..., n, n) ``A``, the LU matrix and the pivots.

    They are the factors of A^T where ``A`` is real and contiguous, as PyTorch's formulas expect.
    """
    found, factors, pivots = applied(_Determinant, A)
    return found, factors, pivots


@kernel(
    "aten._linalg_slogdet.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=INFINITE,
    own_gradient=_HOST,
)
def linalg_slogdet_parts(
    A: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return sign and log|det| (...) of (..., n, n) ``A``, the LU matrix and the pivots."""
    sign, logabsdet, factors, pivots = applied(_LogDeterminant, A)
    return sign, logabsdet, factors, pivots


@kernel("aten.linalg_det.default", source=_SOURCE, accuracy=_ACCURACY, nonfinite=INFINITE)
def linalg_det(A: torch.Tensor) -> torch.Tensor:
    """Return the determinants (...) of (..., n, n) ``A``."""
    return linalg_det_parts(A)[0]


@kernel("aten.det.default", source=_SOURCE, accuracy=_ACCURACY, nonfinite=INFINITE)
def det(self: torch.Tensor) -> torch.Tensor:
    """Return the determinants (...) of (..., n, n) ``self``."""
    return linalg_det(self)


@kernel("aten.linalg_slogdet.default", source=_SOURCE, accuracy=_ACCURACY, nonfinite=INFINITE)
def linalg_slogdet(A: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return sign and log|det| (...) of (..., n, n) ``A``: 0 and -inf where it is singular."""
    return linalg_slogdet_parts(A)[:2]


@kernel("aten.slogdet.default", source=_SOURCE, accuracy=_ACCURACY, nonfinite=INFINITE)
def slogdet(self: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return sign and log|det| (...) of (..., n, n) ``self``."""
    return linalg_slogdet(self)


@kernel("aten.logdet.default", source=_SOURCE, accuracy=_ACCURACY, nonfinite=INFINITE)
def logdet(self: torch.Tensor) -> torch.Tensor:
    """Return log det (...) of (..., n, n) ``self``: NaN where a real one is negative."""
    sign, logabsdet = linalg_slogdet(self)
    if self.is_complex():
        return sign.log() + logabsdet
    return torch.where(sign == -1, torch.nan, logabsdet)


class _Determinant(torch.autograd.Function):
    """d det A = det A trace(A^-1 dA)."""

    @staticmethod
    def forward(ctx: Any, matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        factors, pivots = _factored("linalg.det", _as_formulas_expect(matrix))
        found = _swaps(pivots, matrix.dtype) * _diagonal(factors).prod(-1)
        ctx.mark_non_differentiable(factors, pivots)
        ctx.save_for_backward(matrix, found)
        return found, factors, pivots

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        matrix, found = ctx.saved_tensors
        weight = grads[0] * conj(found)
        return _weighted(weight, matrix)


class _LogDeterminant(torch.autograd.Function):
    """d log det A = trace(A^-1 dA); its imaginary part turns the sign."""

    @staticmethod
    def forward(
        ctx: Any, matrix: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        factors, pivots = _factored("linalg.slogdet", _as_formulas_expect(matrix))
        diagonal = _diagonal(factors)
        sign = _swaps(pivots, matrix.dtype) * diagonal.sgn().prod(-1)
        ctx.mark_non_differentiable(factors, pivots)
        ctx.save_for_backward(matrix, sign)
        return sign, diagonal.abs().log().sum(-1), factors, pivots

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        matrix, sign = ctx.saved_tensors
        weight = grads[1]
        if matrix.is_complex():
            weight = torch.complex(weight, (conj(sign) * grads[0]).imag)
        return _weighted(weight, matrix)


class _Inverse(torch.autograd.Function):
    """The inverse; a pivot that is exactly zero counts as the smallest step of the dtype."""

    @staticmethod
    def forward(ctx: Any, matrix: torch.Tensor) -> torch.Tensor:
        n = matrix.shape[-1]
        beside = identity(matrix).expand(matrix.shape)
        factors, _, _ = torch.linalg.lu_factor_ex(torch.cat([matrix, beside], -1))
        upper = factors[..., :n].triu()
        step = torch.finfo(matrix.dtype).eps
        upper = upper + torch.diag_embed((_diagonal(upper) == 0).to(matrix.dtype) * step)
        inverse = substituted(upper, factors[..., n:], upper=True)
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        (inverse,) = ctx.saved_tensors
        turned = adjoint(inverse)
        return -(turned @ grads[0] @ turned)


def _weighted(weight: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Return ``weight`` (...) times the adjoint of the inverse of (..., n, n) ``matrix``."""
    inverse: torch.Tensor = applied(_Inverse, matrix)
    return weight[..., None, None] * adjoint(inverse)


def _factored(name: str, matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    check_square(name, matrix)
    check_precise(name, matrix)
    factors, pivots, _ = torch.linalg.lu_factor_ex(matrix)
    return factors, pivots


def _as_formulas_expect(matrix: torch.Tensor) -> torch.Tensor:
    transposed = matrix.dim() >= 2 and matrix.is_contiguous() and not matrix.is_complex()
    return matrix.mT if transposed else matrix


def _diagonal(matrix: torch.Tensor) -> torch.Tensor:
    return matrix.diagonal(dim1=-2, dim2=-1)


def _swaps(pivots: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return the sign (...) of the row swaps that (..., n) ``pivots`` name, counted from 1."""
    n = pivots.shape[-1]
    own = torch.arange(1, n + 1, dtype=pivots.dtype, device=pivots.device)
    return (1 - 2 * ((pivots != own).sum(-1) % 2)).to(dtype)
