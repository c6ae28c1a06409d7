"""Solving triangular systems, and products of groups of rows."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel


@kernel(
    "aten.linalg_solve_triangular.default",
    source="forward and backward substitution (Golub & Van Loan, Matrix Computations, 3.1)",
    accuracy="as substitution; LAPACK goes by blocks",
)
def linalg_solve_triangular(
    self: torch.Tensor,
    B: torch.Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> torch.Tensor:
    """Return X with ``self @ X = B``, or ``X @ self = B`` when not ``left``.

    ``self`` is a batch of triangular matrices (*, n, n); a row of X is found from those before it.
    """
    if not left:
        turned = linalg_solve_triangular(
            self.mT, B.mT, upper=not upper, left=True, unitriangular=unitriangular
        )
        return turned.mT
    size = self.shape[-1]
    batch = torch.broadcast_shapes(self.shape[:-2], B.shape[:-2])
    matrix, right = self.expand(*batch, size, size), B.expand(*batch, *B.shape[-2:])
    rows: dict[int, torch.Tensor] = {}
    for row in reversed(range(size)) if upper else range(size):  # each row needs those before it
        value = right[..., row, :]
        for known, found in rows.items():
            value = value - matrix[..., row, known].unsqueeze(-1) * found
        if not unitriangular:
            value = value / matrix[..., row, row].unsqueeze(-1)
        rows[row] = value
    return torch.stack([rows[row] for row in range(size)], -2) if size else right.clone()


@kernel(
    "aten._grouped_mm.default",
    source="definition: each group of rows, columns or depths is multiplied on its own",
    accuracy="as a matrix product in float32",
)
def grouped_mm(
    self: torch.Tensor,
    mat2: torch.Tensor,
    offs: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Return products by group; ``offs`` (groups) are where groups end in the dimension they share.

    (m, k) with (g, k, n): rows are grouped; (g, m, k) with (k, n): columns; (m, k) with (k, n): the
    shared dimension, and the result is (g, m, n); (g, m, k) with (g, k, n) needs no ``offs``.
    """
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    dtype = out_dtype or self.dtype
    first, second = self.float(), mat2.float()
    if offs is None:
        if self.dim() != 3 or mat2.dim() != 3:
            raise RuntimeError("Must provide offsets if either operand is 2d")
        return (first @ second).to(dtype)
    if self.dim() == 2 and mat2.dim() == 3:
        inside = _inside(offs, self.shape[0])
        return torch.where(inside.unsqueeze(-1), first @ second, 0).sum(0).to(dtype)
    if self.dim() == 3:
        inside = _inside(offs, mat2.shape[1])
        return torch.where(inside.unsqueeze(-2), first @ second, 0).sum(0).to(dtype)
    inside = _inside(offs, self.shape[1])
    rows = torch.where(inside.unsqueeze(-2), first, 0)
    return (rows @ torch.where(inside.unsqueeze(-1), second, 0)).to(dtype)


def _inside(offs: torch.Tensor, size: int) -> torch.Tensor:
    """Return for each group which of ``size`` positions it holds, (groups, size)."""
    places = torch.arange(size, device=offs.device)
    before_end = places < offs.unsqueeze(-1)
    started = torch.cat([torch.zeros_like(before_end[:1]), before_end[:-1]])
    return before_end & ~started
