"""Solves with a triangular factor: ``triangular_solve``, ``cholesky_solve``, ``cholesky_inverse``.

All are the backend's own triangular solve, applied once or twice.
"""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._matrices import (
    INFINITE,
    adjoint,
    broadcast_batches,
    check_precise,
    check_same_dtype,
    check_square,
    identity,
    substituted,
)

_SOLVES = "forward and back substitution"
_ACCURACY = "backward stable in the dtype, as the backend's triangular solve is"


@kernel("aten.triangular_solve.default", source=_SOLVES, accuracy=_ACCURACY, nonfinite=INFINITE)
def triangular_solve(
    self: torch.Tensor,
    A: torch.Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return X with A X = ``self``, or A^T X, and a copy of ``A``; batches broadcast.

    ``self`` is (..., n, k), ``A`` (..., n, n), of which one triangle is read.
    """
    right, factor = _system("triangular_solve", self, A)
    factor = factor.clone()
    given = factor.mT if transpose else factor
    solution = torch.linalg.solve_triangular(
        given, right, upper=upper != transpose, unitriangular=unitriangular
    )
    return solution, factor


@kernel("aten._cholesky_solve_helper.default", source=_SOLVES, accuracy=_ACCURACY)
def cholesky_solve_helper(self: torch.Tensor, A: torch.Tensor, upper: bool) -> torch.Tensor:
    """Return X with L L^H X = ``self`` (..., n, k) for the factor ``A`` (..., n, n)."""
    lower = adjoint(A) if upper else A
    first = substituted(lower, self, upper=False)
    return substituted(adjoint(lower), first, upper=True)


@kernel("aten.cholesky_solve.default", source=_SOLVES, accuracy=_ACCURACY)
def cholesky_solve(self: torch.Tensor, input2: torch.Tensor, upper: bool = False) -> torch.Tensor:
    """Return X with L L^H X = ``self`` (..., n, k) for the factor ``input2`` (..., n, n).

    Batches broadcast.
    """
    return cholesky_solve_helper(*_system("cholesky_solve", self, input2), upper)


@kernel("aten.cholesky_inverse.default", source=_SOLVES, accuracy=_ACCURACY, nonfinite=INFINITE)
def cholesky_inverse(self: torch.Tensor, upper: bool = False) -> torch.Tensor:
    """Return the inverse of L L^H for the factor ``self`` (..., n, n)."""
    check_square("cholesky_inverse", self)
    check_precise("cholesky_inverse", self)
    return cholesky_solve_helper(identity(self).expand(self.shape), self, upper)


def _system(
    name: str, right: torch.Tensor, factor: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    for matrix in (right, factor):
        if matrix.dim() < 2:
            raise RuntimeError(f"{name}: b and A should have at least 2 dimensions")
    check_square(name, factor)
    check_same_dtype(name, right, factor)
    if right.shape[-2] != factor.shape[-1]:
        raise RuntimeError(
            f"{name}: Incompatible matrix sizes: each A matrix is {factor.shape[-1]} by "
            f"{factor.shape[-1]} but each b matrix is {right.shape[-2]} by {right.shape[-1]}"
        )
    return broadcast_batches(right, factor)
