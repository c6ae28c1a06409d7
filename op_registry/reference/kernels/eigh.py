"""``eigh``: eigenvalues and eigenvectors of symmetric and Hermitian matrices.

Small real matrices go through Jacobi's method. All others through the backend's SVD, after a shift
that makes every eigenvalue positive: then singular values less the shift are the eigenvalues, and
singular vectors the eigenvectors.
"""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _jacobi
from op_registry.reference.kernels._matrices import (
    INFINITE,
    adjoint,
    applied,
    check_precise,
    check_square,
    identity,
    real,
)

_SMALL = 16
"""Rows of the largest matrix for Jacobi's method, of whose program each takes 580 StableHLO ops."""
_SOURCE = "parallel cyclic Jacobi (Golub & Van Loan, 8.5); shifted SVD for larger matrices"
_ACCURACY = (
    "real and n <= 16: a few roundings of the norm, also on a TPU; else that of the backend's SVD, "
    "whose inner products run on a TPU in a single bfloat16 pass: about 1e-3 of the norm; "
    "eigenvectors up to their sign or phase"
)


def without_phase(
    result: tuple[torch.Tensor, torch.Tensor], *args: Any, **kwargs: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return eigenvalues, and the absolute values of eigenvectors: their phase is a choice."""
    del args, kwargs
    return result[0], result[1].abs()


@kernel(
    "aten._linalg_eigh.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    canonical=without_phase,
    tolerance=10,
    nonfinite=INFINITE,
)
def linalg_eigh_parts(
    A: torch.Tensor, UPLO: str = "L", compute_v: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return eigenvalues (..., n), ascending, and eigenvectors (..., n, n) of ``A``, as columns.

    The triangle that ``UPLO`` names is read. Without ``compute_v`` the vectors have shape (0,).
    """
    matrix = _hermitian(A, UPLO)
    n = matrix.shape[-1]
    if 0 in matrix.shape:
        values, vectors = real(matrix).new_zeros(matrix.shape[:-1]), matrix.clone()
    elif n <= _SMALL and not matrix.is_complex():
        values, vectors = _jacobi.eigh(matrix)
        values, order = values.sort(-1)
        vectors = vectors.take_along_dim(order.unsqueeze(-2), -1)
    else:
        values, vectors = _by_svd(matrix)
    return values, vectors if compute_v else vectors.new_empty(0)


@kernel(
    "aten.linalg_eigh.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    canonical=without_phase,
    tolerance=10,
    nonfinite=INFINITE,
)
def linalg_eigh(self: torch.Tensor, UPLO: str = "L") -> tuple[torch.Tensor, torch.Tensor]:
    """Return eigenvalues (..., n), ascending, and eigenvectors (..., n, n) of ``self``."""
    values, vectors = applied(_Eigh, self, UPLO)
    return values, vectors


@kernel(
    "aten.linalg_eigvalsh.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    tolerance=10,
    nonfinite=INFINITE,
)
def linalg_eigvalsh(self: torch.Tensor, UPLO: str = "L") -> torch.Tensor:
    """Return the eigenvalues (..., n), ascending, of (..., n, n) ``self``."""
    return linalg_eigh(self, UPLO)[0]


class _Eigh(torch.autograd.Function):
    """Gradient of simple eigenvalues: V (diag(g) + V^H G / differences) V^H (Giles 2008)."""

    @staticmethod
    def forward(ctx: Any, matrix: torch.Tensor, triangle: str) -> tuple[torch.Tensor, torch.Tensor]:
        values, vectors = linalg_eigh_parts(matrix, triangle)
        ctx.save_for_backward(values, vectors)
        ctx.set_materialize_grads(False)
        return values, vectors

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> tuple[torch.Tensor, None]:
        values, vectors = ctx.saved_tensors
        of_values, of_vectors = grads
        inner = torch.zeros_like(vectors)
        if of_vectors is not None:
            turned = adjoint(vectors) @ of_vectors
            apart = values.unsqueeze(-2) - values.unsqueeze(-1) + identity(values.unsqueeze(-2))
            inner = 0.5 * (turned - adjoint(turned)) / apart
            inner = inner - torch.diag_embed(inner.diagonal(dim1=-2, dim2=-1))
        if of_values is not None:
            inner = inner + torch.diag_embed(of_values)
        return vectors @ inner @ adjoint(vectors), None


def _by_svd(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    shift = matrix.abs().square().sum((-2, -1), keepdim=True).sqrt()
    _, values, turned = torch.linalg.svd(matrix + shift * identity(matrix))
    return (values - shift[..., 0]).flip(-1), adjoint(turned).flip(-1)


def _hermitian(matrix: torch.Tensor, triangle: str) -> torch.Tensor:
    """Return the matrix that the named triangle of ``matrix`` stands for."""
    check_square("linalg.eigh", matrix)
    check_precise("linalg.eigh", matrix)
    if triangle not in {"L", "U", "l", "u"}:
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {triangle}")
    strict = matrix.tril(-1) if triangle in "Ll" else matrix.triu(1)
    diagonal = torch.diag_embed(real(matrix.diagonal(dim1=-2, dim2=-1)))
    return strict + adjoint(strict) + diagonal
