"""Products with 4-bit weights as PyTorch packs them for a CPU.

Rows are packed in blocks of 64 on a CPU with AVX-512, of 32 on others with AVX2: for each column
half a block of bytes, of which the low four bits are a row of the first half, the high ones the
row half a block further on. The rows of a last, smaller block, and all rows on a CPU without
either, are packed in pairs instead. The host's CPU decides, as it does in eager, so that weights
packed by either are the same bytes.
"""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _int4

_BLOCKS = {"AVX512": 64, "AVX2": 32}
_TILES = (2, 4, 8)


@kernel(
    "aten._convert_weight_to_int4pack_for_cpu.default",
    source="torch's int4mm_kernel.cpp",
    accuracy="equal to eager",
    tolerance=0,
)
def convert_weight_to_int4pack_for_cpu(self: torch.Tensor, innerKTiles: int) -> torch.Tensor:
    """Return int32 ``self`` (n, k), numbers from 0 to 15, as uint8 (n, k / 2).

    ``innerKTiles`` has no effect. n is a multiple of 16, k even.
    """
    name = "_convert_weight_to_int4pack_for_cpu"
    if self.dim() != 2 or self.dtype != torch.int32:
        raise RuntimeError(f"{name} : expect weight to be an int32 matrix, got {self.dtype}")
    if innerKTiles not in _TILES:
        raise RuntimeError(f"{name} : innerKTiles need to be 2, 4, or 8, got {innerKTiles}")
    rows, columns = self.shape
    if rows % 16 or columns % 2:
        raise RuntimeError(f"{name} : expect {rows} by {columns} to be multiples of 16 and 2")
    low, high = _pairs(self.to(torch.uint8))
    return torch.cat(
        [(a | (b << 4)).transpose(1, 2).reshape(-1) for a, b in zip(low, high, strict=True)]
    ).reshape(rows, columns // 2)


@kernel(
    "aten._weight_int4pack_mm_for_cpu.default",
    source="torch's int4mm_kernel.cpp",
    accuracy="rounding of f32 sums, once more to the result's dtype; on a TPU f32 products run at "
    "the precision that torch.set_float32_matmul_precision sets",
)
def weight_int4pack_mm_for_cpu(
    self: torch.Tensor, mat2: torch.Tensor, qGroupSize: int, qScaleAndZeros: torch.Tensor
) -> torch.Tensor:
    """Return ``self`` (m, k) times the transpose of the packed weights ``mat2`` (n, k / 2).

    ``qScaleAndZeros`` (k / qGroupSize, n, 2) say what the numbers stand for; the result (m, n) has
    the dtype of ``self``.
    """
    name = "_weight_int4pack_mm_for_cpu"
    if mat2.dim() != 2 or mat2.dtype != torch.uint8:
        raise RuntimeError(f"{name} : expect B to be a uint8 matrix, got {mat2.dtype}")
    shape = (mat2.shape[0], 2 * mat2.shape[1])
    _int4.check_product(name, self, shape, qGroupSize, qScaleAndZeros)
    return _int4.product(self, _unpacked(mat2), qGroupSize, qScaleAndZeros).to(self.dtype)


def _block() -> int:
    """Return how many rows the host's CPU packs at once, 0 for pairs."""
    return _BLOCKS.get(torch.backends.cpu.get_cpu_capability(), 0)


def _whole(rows: int) -> int:
    """Return how many of ``rows`` are in whole blocks."""
    return rows - rows % _block() if _block() else 0


def _pairs(numbers: torch.Tensor) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Return the rows of low and of high bits, (blocks, half, k) each; what is left last."""
    rows, columns = numbers.shape
    whole, low, high = _whole(rows), [], []
    if whole:
        halves = numbers[:whole].reshape(-1, 2, _block() // 2, columns)
        low, high = [halves[:, 0]], [halves[:, 1]]
    if rest := rows - whole:
        pairs = numbers[whole:].reshape(1, rest // 2, 2, columns)
        low, high = [*low, pairs[:, :, 0]], [*high, pairs[:, :, 1]]
    return low, high


def _unpacked(packed: torch.Tensor) -> torch.Tensor:
    """Return the numbers (n, k) in ``packed`` (n, k / 2)."""
    rows, columns = packed.shape[0], 2 * packed.shape[1]
    whole = _whole(rows)
    numbers = _int4.nibbles(packed.reshape(-1), 2)
    inside = numbers[: whole * columns // 2].reshape(-1, columns, max(_block(), 2) // 2, 2)
    parts = [inside.permute(0, 3, 2, 1).reshape(whole, columns)]
    if rest := rows - whole:
        left = numbers[whole * columns // 2 :].reshape(columns, rest // 2, 2)
        parts.append(left.permute(1, 2, 0).reshape(rest, columns))
    return torch.cat(parts)
