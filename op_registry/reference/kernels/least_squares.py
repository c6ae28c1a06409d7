"""``lstsq``: least squares by QR where the matrix has full rank, by SVD where it has not."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._matrices import (
    INFINITE,
    MATMUL,
    adjoint,
    broadcast_batches,
    check_matrix,
    check_precise,
    check_same_dtype,
    real,
    substituted,
)

_DRIVERS = ("gelsy", "gels", "gelsd", "gelss")
_WITH_VALUES = ("gelsd", "gelss")
_Result = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


@kernel(
    "aten.linalg_lstsq.default",
    source="QR of (A | B), and the pseudoinverse by SVD (Golub & Van Loan, 5.3 and 5.5)",
    accuracy="that of the backend's QR for full rank and m >= n, else that of its SVD and of "
    f"matrix products; {MATMUL}",
    nonfinite=INFINITE,
    tolerance=10,
)
def linalg_lstsq(
    self: torch.Tensor, b: torch.Tensor, rcond: float | None = None, *, driver: str | None = None
) -> _Result:
    """Return the X of least norm that minimises ||A X - B||, residuals, rank, singular values.

    A is ``self`` (..., m, n), B is ``b`` (..., m, k) or (..., m). Singular values of at most
    ``rcond`` times the largest count as zero. ``rank`` (...) is there unless ``driver`` is
    ``gels``, which takes it to be full, singular values (..., min(m, n)) for ``gelsd`` and
    ``gelss``, ``residuals`` (..., k) for all but ``gelsy`` where m > n; what is not there has
    shape (0,). Eager leaves residuals out where the rank is not full, a shape that depends on
    values: here they are NaN.
    """
    driver = driver or "gelsy"
    vector = _check(self, b, driver)
    matrix, right = broadcast_batches(self, b.unsqueeze(-1) if vector else b)
    nothing = real(matrix).new_empty(0)
    solution, residuals = _of_full_rank(matrix, right)
    rank, values = nothing.to(torch.int64), nothing
    if driver != "gels":
        other, rank, values = _of_any_rank(matrix, right, rcond)
        full = (rank == min(matrix.shape[-2:]))[..., None]
        solution = torch.where(full[..., None], solution, other)
        residuals = torch.where(full, residuals, torch.nan)
    return (
        solution.squeeze(-1) if vector else solution,
        residuals if matrix.shape[-2] > matrix.shape[-1] and driver != "gelsy" else nothing,
        rank,
        values if driver in _WITH_VALUES else nothing,
    )


def _of_full_rank(matrix: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return X (..., n, k) and the squares of the residuals (..., k), zero for m <= n."""
    rows, columns = matrix.shape[-2:]
    if 0 in matrix.shape or 0 in right.shape:
        squares = real(right * right.conj()).sum(-2)
        return right.new_zeros(*right.shape[:-2], columns, right.shape[-1]), squares
    if rows >= columns:
        both = torch.linalg.qr(torch.cat([matrix, right], -1), mode="r").R
        solution = substituted(both[..., :columns, :columns], both[..., :columns, columns:])
        return solution, both[..., columns:, columns:].abs().square().sum(-2)
    basis, upper = torch.linalg.qr(adjoint(matrix))
    solution = basis @ substituted(adjoint(upper), right, upper=False)
    return solution, real(right).sum(-2) * 0


def _of_any_rank(
    matrix: torch.Tensor, right: torch.Tensor, rcond: float | None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return X (..., n, k), the rank (...) and the singular values (..., min(m, n))."""
    left, values, turned = torch.linalg.svd(matrix, full_matrices=False)
    if rcond is None:
        rcond = torch.finfo(matrix.dtype).eps * max(matrix.shape[-2:])
    counts = values > rcond * values[..., :1]
    inverse = torch.where(counts, 1 / values, 0).unsqueeze(-1)
    return adjoint(turned) @ (inverse * (adjoint(left) @ right)), counts.sum(-1), values


def _check(matrix: torch.Tensor, right: torch.Tensor, driver: str) -> bool:
    """Return whether ``right`` holds vectors; raise eager's errors."""
    name = "torch.linalg.lstsq"
    check_matrix(name, matrix)
    check_precise(name, matrix)
    check_same_dtype(name, matrix, right)
    if driver not in _DRIVERS:
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of {', '.join(_DRIVERS)}, got {driver}"
        )
    missing = matrix.dim() - right.dim()
    if right.dim() < 1 or missing not in {0, 1}:
        raise RuntimeError(f"{name}: other.dim() must be input.dim() or one less")
    rows = right.shape[-1] if missing else right.shape[-2]
    if rows != matrix.shape[-2]:
        raise RuntimeError(f"{name}: other has {rows} rows, input {matrix.shape[-2]}")
    return bool(missing)
