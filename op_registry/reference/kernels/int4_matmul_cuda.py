"""Products with 4-bit weights as PyTorch packs them for NVIDIA's tensor cores (tinygemm).

An int32 holds eight numbers of one row, from a pair of tiles of 16 columns: what a thread of a
warp feeds into ``mma.m16n8k16``. The form is (n / 8, k / (16 t), 32, t / 2) for t inner tiles; the
second to last dimension is the thread, 4 row + q. Its eight numbers are of the columns 2 q,
2 q + 8 of the first tile, the same of the second, then of each column's right neighbour; lowest
bits first. Weights that were packed on a GPU are read as they are.
"""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _int4

_SOURCE = "torch's int4mm.cu"
_TILES = (2, 4, 8)
_ROWS, _COLUMNS, _THREADS = 8, 16, 32


def _bit_by_bit(self: torch.Tensor, innerKTiles: int) -> torch.Tensor:
    """Pack number by number, as each thread of the CUDA kernel does."""
    rows, columns = self.shape[0], 2 * self.shape[1]
    bytes_ = self.tolist()
    outer = columns // (innerKTiles * _COLUMNS)
    packed = torch.zeros(-(-rows // _ROWS), outer, _THREADS, innerKTiles // 2, dtype=torch.int64)
    for place in torch.cartesian_prod(*(torch.arange(size) for size in packed.shape)):
        tile, across, thread, inner = place.tolist()
        row = tile * _ROWS + thread // 4
        start = (across * innerKTiles + 2 * inner) * _COLUMNS // 2 + thread % 4
        if row < rows:
            for turn, offset in enumerate((0, 4, 8, 12)):
                value = bytes_[row][start + offset]
                bits = (value >> 4) << (4 * turn) | (value & 15) << (4 * turn + 16)
                packed[tile, across, thread, inner] |= bits
    return packed.to(torch.int32)


@kernel(
    "aten._convert_weight_to_int4pack.default",
    source=_SOURCE,
    accuracy="equal to what a GPU packs",
    tolerance=0,
    expected=_bit_by_bit,
)
def convert_weight_to_int4pack(self: torch.Tensor, innerKTiles: int) -> torch.Tensor:
    """Return uint8 ``self`` (n, k / 2), the left of two columns in the high bits, as int32.

    The result is (n / 8, k / (16 innerKTiles), 32, innerKTiles / 2), with n rounded up.
    """
    name = "_convert_weight_to_int4pack"
    if self.dim() != 2 or self.dtype != torch.uint8:
        raise RuntimeError(f"{name}: expected a uint8 matrix, got {self.dtype}")
    if innerKTiles not in _TILES:
        raise RuntimeError(f"{name}: innerKTiles need to be 2, 4, or 8, got {innerKTiles}")
    if self.shape[1] * 2 % (innerKTiles * _COLUMNS):
        raise RuntimeError(f"{name}: expected columns in multiples of {innerKTiles * _COLUMNS}")
    rows = torch.nn.functional.pad(self, (0, 0, 0, -self.shape[0] % _ROWS))
    # (tile, row, across, inner, four bytes of two tiles, q) to (tile, across, thread, inner, four)
    parts = rows.reshape(rows.shape[0] // _ROWS, _ROWS, -1, innerKTiles // 2, 4, 4)
    parts = parts.permute(0, 2, 1, 5, 3, 4).flatten(2, 3).to(torch.int32)
    shifts = torch.arange(0, 16, 4, dtype=torch.int32, device=self.device)
    # Bits of different numbers never meet, so that adding them packs them; int32 wraps around.
    each = ((parts >> 4) << shifts) + ((parts & 15) << (shifts + 16))
    return each.sum(-1, dtype=torch.int32)


@torch.no_grad()
def _by_rows(
    self: torch.Tensor, mat2: torch.Tensor, qGroupSize: int, qScaleAndZeros: torch.Tensor
) -> torch.Tensor:
    """Take the weights out thread by thread, and multiply in float64."""
    tiles, outer, _, halves = mat2.shape
    rows, columns = tiles * _ROWS, outer * halves * 2 * _COLUMNS
    weights = torch.zeros(rows, columns, dtype=torch.float64)
    for place in torch.cartesian_prod(*(torch.arange(size) for size in mat2.shape)):
        tile, across, thread, inner = place.tolist()
        start = (across * halves + inner) * 2 * _COLUMNS + thread % 4 * 2
        for turn, offset in enumerate((0, 8, 16, 24, 1, 9, 17, 25)):
            number = int(mat2[tile, across, thread, inner]) >> (4 * turn) & 15
            weights[tile * _ROWS + thread // 4, start + offset] = number - 8
    scale, zero = qScaleAndZeros.double().repeat_interleave(qGroupSize, 0).unbind(-1)
    weights = (weights * scale.t() + zero.t()).to(torch.bfloat16)
    return (self.double() @ weights.double().t()).to(torch.bfloat16)


@kernel(
    "aten._weight_int4pack_mm.default",
    source=_SOURCE,
    accuracy="weights are bfloat16, as on a GPU; f32 sums, rounded once",
    expected=_by_rows,
)
def weight_int4pack_mm(
    self: torch.Tensor, mat2: torch.Tensor, qGroupSize: int, qScaleAndZeros: torch.Tensor
) -> torch.Tensor:
    """Return bfloat16 ``self`` (m, k) times the transpose of the packed weights ``mat2``.

    ``qScaleAndZeros`` (k / qGroupSize, n, 2) say what the numbers stand for.
    """
    name = "_weight_int4pack_mm"
    if self.dtype != torch.bfloat16 or mat2.dtype != torch.int32 or mat2.dim() != 4:
        raise RuntimeError(
            f"{name}: expected bfloat16 A and int32 B of 4 dimensions, got {self.dtype} and "
            f"{mat2.dtype} of {mat2.dim()}"
        )
    numbers = _unpacked(mat2)
    _int4.check_product(
        name, self, (numbers.shape[0], numbers.shape[1]), qGroupSize, qScaleAndZeros
    )
    weights = _int4.dequantised(numbers, qGroupSize, qScaleAndZeros).to(self.dtype)
    return self @ weights.t()


def _unpacked(packed: torch.Tensor) -> torch.Tensor:
    """Return the numbers (n, k)."""
    tiles, outer, _, halves = packed.shape
    numbers = _int4.nibbles(packed, 8).reshape(tiles, outer, _ROWS, 4, halves, 2, 4)
    # (tile, across, row, q, inner, left or right, four) to (rows, columns)
    return numbers.permute(0, 2, 1, 4, 6, 3, 5).reshape(tiles * _ROWS, -1)


@torch.no_grad()
def _by_columns(
    self: torch.Tensor,
    mat2: torch.Tensor,
    qGroupSize: int,
    qScale: torch.Tensor,
    qZeros: torch.Tensor,
) -> torch.Tensor:
    """Take the weights out column by column, and multiply in float64."""
    columns = [(mat2[:, place // 8] >> (4 * (place % 8)) & 15) for place in range(self.shape[1])]
    scale, zero = (part.double().repeat_interleave(qGroupSize, 0) for part in (qScale, qZeros))
    weights = (torch.stack(columns).double() - zero) * scale
    return (self.double() @ weights).to(self.dtype)


@kernel(
    "aten._weight_int4pack_mm_with_scales_and_zeros.default",
    source="torch's XPU kernel: oneDNN's matmul with 4-bit weights",
    accuracy="rounding of f32 sums, once more to the result's dtype",
    expected=_by_columns,
)
def weight_int4pack_mm_with_scales_and_zeros(
    self: torch.Tensor,
    mat2: torch.Tensor,
    qGroupSize: int,
    qScale: torch.Tensor,
    qZeros: torch.Tensor,
) -> torch.Tensor:
    """Return ``self`` (m, k) times the transpose of the packed weights int32 ``mat2`` (n, k / 8).

    A number stands for (number - zero) * scale; both are (k / qGroupSize, n). Eight columns share
    an int32, the leftmost in the lowest bits, as the op's own backend, Intel's GPUs, has it.
    """
    name = "_weight_int4pack_mm_with_scales_and_zeros"
    if mat2.dim() != 2 or mat2.dtype != torch.int32:
        raise RuntimeError(f"{name}: expected B to be an int32 matrix, got {mat2.dtype}")
    numbers = _int4.nibbles(mat2, 8).flatten(1).float()
    rows, columns = numbers.shape
    if self.dim() != 2 or self.shape[1] != columns or columns % qGroupSize:
        raise RuntimeError(f"{name}: expected A of {columns} columns, got {list(self.shape)}")
    scale, zero = (part.float().t().unsqueeze(-1) for part in (qScale, qZeros))
    weights = (numbers.reshape(rows, -1, qGroupSize) - zero) * scale
    return (self.float() @ weights.reshape(rows, columns).t()).to(self.dtype)
