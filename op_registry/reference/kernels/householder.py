"""Products of Householder reflectors, as ``geqrf`` leaves them: ``orgqr``, ``ormqr``.

H_1 H_2 .. H_k = I - V T V^H, with T^-1 = D^-1 + strict upper triangle of V^H V and D = diag(tau)
(Puglisi 1992): two matrix products and a triangular solve, whatever k is.
"""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._matrices import (
    INFINITE,
    MATMUL,
    adjoint,
    check_matrix,
    check_precise,
    check_same_dtype,
    identity,
    substituted,
)

_SOURCE = "compact WY form with the triangular factor of Puglisi (1992)"
_ACCURACY = f"rounding of matrix products; {MATMUL}"


@kernel(
    "aten.linalg_householder_product.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=INFINITE,
    tolerance=20,  # terms of the gradient in complex64 cancel: 2e-5 off at worst
)
def linalg_householder_product(input: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
    """Return the first n columns of the product of the reflectors in (..., m, n) ``input``.

    ``tau`` (..., k) has their scales; only what is below the diagonal of ``input`` is read.
    """
    vectors, inner = _reflectors("torch.linalg.householder_product", input, tau)
    rows, columns = input.shape[-2:]
    if rows < columns:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to "
            "input.shape[-1]"
        )
    first = torch.eye(rows, columns, dtype=input.dtype, device=input.device)
    return first - vectors @ (inner @ adjoint(vectors[..., :columns, :]))


@kernel(
    "aten.orgqr.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=INFINITE,
    tolerance=10,
)
def orgqr(self: torch.Tensor, input2: torch.Tensor) -> torch.Tensor:
    """Return the first n columns of the product of the reflectors in (..., m, n) ``self``."""
    return linalg_householder_product(self, input2)


@kernel("aten.ormqr.default", source=_SOURCE, accuracy=_ACCURACY, nonfinite=INFINITE)
def ormqr(
    self: torch.Tensor,
    input2: torch.Tensor,
    input3: torch.Tensor,
    left: bool = True,
    transpose: bool = False,
) -> torch.Tensor:
    """Return Q C, or C Q where not ``left``, for the reflectors ``self`` with scales ``input2``.

    C is ``input3``; ``transpose`` takes Q^H for Q, which has as many rows and columns as ``self``
    has rows.
    """
    vectors, inner = _reflectors("torch.ormqr", self, input2)
    if input3.dim() < 2 or self.shape[:-2] != input3.shape[:-2]:
        raise RuntimeError("torch.ormqr: batch dimensions of other should be equal to input's")
    check_same_dtype("torch.ormqr", self, input3)
    side = -2 if left else -1
    if input3.shape[side] != self.shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    inner = adjoint(inner) if transpose else inner
    if left:
        return input3 - vectors @ (inner @ (adjoint(vectors) @ input3))
    return input3 - ((input3 @ vectors) @ inner) @ adjoint(vectors)


def _reflectors(
    name: str, matrix: torch.Tensor, scales: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return V (..., m, k), the reflectors' vectors, and T (..., k, k)."""
    check_matrix(name, matrix)
    check_precise(name, matrix)
    check_same_dtype(name, matrix, scales)
    count = scales.shape[-1] if scales.dim() else 0
    if scales.shape[:-1] != matrix.shape[:-2] or count > matrix.shape[-1]:
        raise RuntimeError(
            f"{name}: Expected tau (batch, k) with batch equal to input.shape[:-2] and k at most "
            f"input.shape[-1], got {list(scales.shape)} for {list(matrix.shape)}"
        )
    vectors = matrix[..., :count].tril(-1) + torch.eye(
        matrix.shape[-2], count, dtype=matrix.dtype, device=matrix.device
    )
    overlaps = (adjoint(vectors) @ vectors).triu(1)
    system = identity(overlaps) + scales.unsqueeze(-1) * overlaps
    return vectors, substituted(system, torch.diag_embed(scales), upper=True)
