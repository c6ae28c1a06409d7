"""Batches of matrices: the checks and small steps that linear algebra kernels share."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import pad

INFINITE = "eager hands the matrix to LAPACK, whose answer for NaN and infinity is not defined"
"""Why results for NaN and infinity are not compared."""
MATMUL = "on a TPU f32 products run at the precision that torch.set_float32_matmul_precision sets"
"""What to know of kernels made of matrix products."""
_PRECISE = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def check_matrix(name: str, matrix: torch.Tensor) -> None:
    """Raise eager's RuntimeError unless ``matrix`` is (..., rows, columns)."""
    if matrix.dim() < 2:
        raise RuntimeError(f"{name}: The input tensor must have at least 2 dimensions.")


def check_square(name: str, matrix: torch.Tensor) -> None:
    """Raise eager's RuntimeError unless ``matrix`` is (..., n, n)."""
    check_matrix(name, matrix)
    rows, columns = matrix.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {rows} by {columns}"
        )


def check_precise(name: str, matrix: torch.Tensor) -> None:
    """Raise eager's RuntimeError unless ``matrix`` has a dtype that LAPACK has."""
    if matrix.dtype not in _PRECISE:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor of 32 or 64 bits a part, "
            f"got {matrix.dtype}"
        )


def check_same_dtype(name: str, one: torch.Tensor, other: torch.Tensor) -> None:
    """Raise eager's RuntimeError unless both matrices have one dtype."""
    if one.dtype != other.dtype:
        raise RuntimeError(
            f"{name}: Expected both matrices to have the same dtype, got {one.dtype} and "
            f"{other.dtype}"
        )


def real(matrix: torch.Tensor) -> torch.Tensor:
    """Return the real part of ``matrix``, which may be real already."""
    return matrix.real if matrix.is_complex() else matrix


def conj(matrix: torch.Tensor) -> torch.Tensor:
    """Return the complex conjugate, computed: a lazy one is no input for every kernel."""
    return torch.conj_physical(matrix) if matrix.is_complex() else matrix


def adjoint(matrix: torch.Tensor) -> torch.Tensor:
    """Return the conjugate transpose of (..., rows, columns) ``matrix``."""
    return conj(matrix.mT)


def padded(matrix: torch.Tensor, *, left: int = 0, top: int = 0) -> torch.Tensor:
    """Return ``matrix`` with columns and rows of zeros before it."""
    return pad(matrix, (left, 0, top, 0)) if left or top else matrix


def identity(matrix: torch.Tensor) -> torch.Tensor:
    """Return the identity for (..., n, n) ``matrix``, as one (n, n) matrix."""
    return torch.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)


def broadcast_batches(one: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return both batches of matrices with the batch dimensions that they broadcast to."""
    batch = torch.broadcast_shapes(one.shape[:-2], other.shape[:-2])
    return one.expand(*batch, *one.shape[-2:]), other.expand(*batch, *other.shape[-2:])


def substituted(
    factor: torch.Tensor, right: torch.Tensor, *, upper: bool = True, left: bool = True
) -> torch.Tensor:
    """Return X with ``factor`` X = ``right``, or X ``factor`` where not ``left``.

    The backend's triangular solve: only the named triangle of ``factor`` is read.
    """
    found: torch.Tensor = torch.linalg.solve_triangular(factor, right, upper=upper, left=left)
    return found


def applied(function: type[torch.autograd.Function], *args: Any) -> Any:
    """Return what ``function`` makes of ``args``, with its own gradient."""
    return function.apply(*args)
