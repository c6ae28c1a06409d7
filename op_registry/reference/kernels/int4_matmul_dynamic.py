"""Products of 4-bit weights with activations that are quantised to 8 bits on the way.

PyTorch packs such weights for Arm's CPUs; this is the form of its fallback for all others: one f32
vector of bytes of two numbers each, scales and, maybe, biases.
"""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _int4
from op_registry.reference.kernels.int_matmul import whole_product

_SOURCE = "torch's int4mm_kernel.cpp, the fallback"
_GROUP = 32
"""Columns that share a scale come in multiples of this many."""


@kernel(
    "aten._dyn_quant_pack_4bit_weight.default",
    source=_SOURCE,
    accuracy="equal to eager's fallback; a CPU of Arm packs otherwise",
    tolerance=0,
)
def dyn_quant_pack_4bit_weight(
    weights: torch.Tensor,
    scales_zeros: torch.Tensor,
    bias: torch.Tensor | None,
    block_size: int,
    in_features: int,
    out_features: int,
) -> torch.Tensor:
    """Return f32 (k n / 2 + scales + biases): uint8 ``weights``, then scales, then ``bias``.

    n is ``out_features``, k ``in_features``; two numbers share a byte, the left in the low bits.
    """
    _check_block("_dyn_quant_pack_4bit_weight", block_size, in_features)
    if weights.dtype != torch.uint8:
        raise RuntimeError(f"expected uint8 weights, got {weights.dtype}")
    if weights.numel() * 2 != in_features * out_features:
        raise RuntimeError(f"expected {in_features * out_features} numbers, two to a byte")
    parts = [weights, scales_zeros, *([] if bias is None else [bias])]
    return torch.cat([part.reshape(-1).float() for part in parts])


@kernel(
    "aten._dyn_quant_matmul_4bit.default",
    source=_SOURCE,
    accuracy="equal to eager's fallback where a scale spans all columns, else rounding of f32 sums "
    "over the groups; where rounding of an activation is a tie, a step of its scale",
    nonfinite="eager converts NaN and infinity to int32, which C++ leaves undefined",
    tolerance=10,
)
def dyn_quant_matmul_4bit(
    inp: torch.Tensor,
    packed_weights: torch.Tensor,
    block_size: int,
    in_features: int,
    out_features: int,
) -> torch.Tensor:
    """Return ``inp`` (m, k), each row rounded to 256 steps, times the transpose of the weights.

    n is ``out_features``, k ``in_features``; ``block_size`` columns share a scale. Biases are added
    where they are packed. bfloat16 rows need a scale for all columns; their result is cut to
    bfloat16, not rounded.
    """
    _check_block("_dyn_quant_matmul_4bit", block_size, in_features)
    if inp.dim() != 2 or inp.shape[1] != in_features:
        raise RuntimeError(f"expected input of {in_features} columns, got {list(inp.shape)}")
    groups = in_features // block_size
    if inp.dtype != torch.float32 and (inp.dtype != torch.bfloat16 or groups > 1):
        raise RuntimeError(
            f"expected float32 input, or bfloat16 with one scale for all columns, got {inp.dtype} "
            f"with {groups}"
        )
    size = in_features * out_features // 2
    packed = packed_weights[:size].to(torch.int32)
    numbers = _int4.nibbles(packed, 2).reshape(out_features, groups, block_size).float() - 8
    end = size + groups * out_features
    scales = packed_weights[size:end].reshape(out_features, groups)
    steps, scale = _quantised(inp.float())
    steps = steps.reshape(-1, groups, block_size)
    total = torch.zeros_like(scale)
    for group in range(groups):
        product = whole_product(steps[:, group], numbers[:, group].t())
        total = total + product.float() * scales[:, group]
    result = total * scale
    if packed_weights.shape[0] > end:
        result = result + packed_weights[end : end + out_features]
    return result if inp.dtype == torch.float32 else _cut(result)


def _cut(values: torch.Tensor) -> torch.Tensor:
    """Return f32 ``values`` in bfloat16, the lower half of their bits left out."""
    upper = values.view(torch.int32) & -65536
    return upper.view(torch.float32).to(torch.bfloat16)


def _quantised(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return whole numbers less the zero point of their row, as f32, and what one step is."""
    low = rows.amin(1, keepdim=True).clamp(max=0)
    high = rows.amax(1, keepdim=True).clamp(min=0)
    per_step = torch.where(low == high, 1.0, 255.0 / (high - low))
    least, most = low * per_step, high * per_step
    point = torch.where(least - 128 + (most + 127) > 0, -128 - least, 127 - most)
    point = point.clamp(-128, 127).round()
    scaled = rows * per_step
    # Halves go away from zero, as std::round has it.
    whole = torch.where(scaled < 0, (scaled - 0.5).ceil(), (scaled + 0.5).floor())
    return (whole + point).clamp(-128, 127) - point, 1.0 / per_step


def _check_block(name: str, size: int, columns: int) -> None:
    if size != columns and (size % _GROUP or columns % size):
        raise RuntimeError(
            f"{name}: expected block_size to be in_features or a multiple of {_GROUP} that divides "
            f"it, got {size} for {columns}"
        )
