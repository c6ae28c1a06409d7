"""Products of int8 matrices, and of activations with int8 weights.

The backend multiplies no int8 matrices into int32. float32 products do: an int8 is exact in the
bfloat16 that a TPU multiplies, and a sum of up to 1024 products exact in float32.
"""

from __future__ import annotations

import torch
from torch.nn.functional import pad

from op_registry.reference.declare import kernel

_EXACT = 1024
"""Products of two int8, of at most 2^14 each, whose sum float32 holds exactly."""


@kernel(
    "aten._int_mm.default",
    source="exact products in float32, sums of them in int32",
    accuracy="equal to eager",
    tolerance=0,
)
def int_mm(self: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """Return the int32 product (m, n) of int8 ``self`` (m, k) and ``mat2`` (k, n).

    Columns are taken 1024 at a time; sums beyond int32 wrap around, as in eager.
    """
    _check_matrices("_int_mm", self, mat2)
    if {self.dtype, mat2.dtype} != {torch.int8}:
        raise RuntimeError(f"Expected both to have int8, got {self.dtype} and {mat2.dtype}")
    if self.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"self.size(1) needs to match mat2.size(0), got {self.shape[1]} and {mat2.shape[0]}"
        )
    return whole_product(self.float(), mat2.float())


def whole_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return the int32 product (m, n) of f32 (m, k) and (k, n) that hold whole int8 numbers."""
    rows, columns = left.shape
    count = -(-columns // _EXACT)
    if count <= 1:
        return (left @ right).to(torch.int32)
    missing = count * _EXACT - columns
    left = pad(left, (0, missing)).reshape(rows, count, _EXACT).transpose(0, 1)
    right = pad(right, (0, 0, 0, missing)).reshape(count, _EXACT, -1)
    return torch.bmm(left, right).to(torch.int32).sum(0, dtype=torch.int32)


@kernel(
    "aten._weight_int8pack_mm.default",
    source="definition",
    accuracy="rounding of f32 sums, once more to the result's dtype; on a TPU f32 activations are "
    "multiplied at the precision that torch.set_float32_matmul_precision sets, bfloat16 exactly",
    nonfinite="eager scales weights or sums, as its CPU has it: 0 times an infinite scale is NaN",
)
def weight_int8pack_mm(
    self: torch.Tensor, mat2: torch.Tensor, scales: torch.Tensor
) -> torch.Tensor:
    """Return ``self`` (m, k) times the transpose of int8 ``mat2`` (n, k), scaled by column.

    ``scales`` are (n); the result (m, n) has the dtype of ``self``.
    """
    _check_matrices("_weight_int8pack_mm", self, mat2)
    if mat2.dtype != torch.int8:
        raise RuntimeError(f"_weight_int8pack_mm : expect B to be int8 tensor, got {mat2.dtype}")
    if not self.is_floating_point():
        raise RuntimeError(f"_weight_int8pack_mm : expect A to be float, got {self.dtype}")
    if self.shape[1] != mat2.shape[1] or scales.shape != mat2.shape[:1]:
        raise RuntimeError(
            f"_weight_int8pack_mm : expect B and scales to have {self.shape[1]} columns and one "
            f"scale a row, got {list(mat2.shape)} and {list(scales.shape)}"
        )
    product = self.float() @ mat2.float().t()
    return (product * scales.float()).to(self.dtype)


def _check_matrices(name: str, *matrices: torch.Tensor) -> None:
    for matrix in matrices:
        if matrix.dim() != 2:
            raise RuntimeError(f"{name}: expected matrices, got a tensor of {matrix.dim()}")
