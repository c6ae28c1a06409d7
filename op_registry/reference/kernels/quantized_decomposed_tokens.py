"""``quantized_decomposed``: scales a token or a group of columns, and how scales are chosen."""

from __future__ import annotations

import torch

# Makes the ops known; torch itself does so only when something is quantised.
import torch.ao.quantization.fx._decomposed

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._quantised import check_float, check_groups
from op_registry.reference.kernels._rounding import NONFINITE

_SOURCE = "definition (Jacob et al. 2018)"
_ACCURACY = "equal to eager"
_SMALLEST = 1e-5
"""The least magnitude that a row is scaled by."""
_Pair = tuple[torch.Tensor, torch.Tensor]


@kernel(
    "quantized_decomposed.choose_qparams.tensor",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=NONFINITE,
)
def choose_qparams(
    input: torch.Tensor, quant_min: int, quant_max: int, eps: float, dtype: torch.dtype
) -> _Pair:
    """Return an f64 scale (1) and an int64 zero point (1) for the range of ``input`` and zero."""
    del dtype
    low, high = _range(input)
    scale = _at_least((high - low) / float(quant_max - quant_min), eps)
    point = quant_min - (low / scale).round().to(torch.int32)
    return scale.double(), point.clamp(quant_min, quant_max).to(torch.int64)


@kernel(
    "quantized_decomposed.choose_qparams_symmetric.tensor",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=NONFINITE,
)
def choose_qparams_symmetric(
    input: torch.Tensor, quant_min: int, quant_max: int, eps: float, dtype: torch.dtype
) -> _Pair:
    """Return an f64 scale (1) for the largest magnitude, and the int64 zero point (1) in between.

    The zero point is 128 for uint8, else 0.
    """
    low, high = _range(input)
    scale = _at_least(torch.max(-low, high) / (float(quant_max - quant_min) / 2), eps)
    middle = 128 if dtype == torch.uint8 else 0
    return scale.double(), torch.full_like(scale, middle, dtype=torch.int64)


@kernel(
    "quantized_decomposed.choose_qparams_per_token.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=NONFINITE,
)
def choose_qparams_per_token(input: torch.Tensor, dtype: torch.dtype) -> _Pair:
    """Return the scale (..., 1) that maps the largest magnitude of each row to 127, and zeros."""
    if dtype != torch.int8:
        raise RuntimeError(f"unsupported dtype in choose_qparams_per_token: {dtype}")
    largest = input.abs().amax(-1, keepdim=True)
    largest = largest.float() if input.dtype == torch.float16 else largest
    scale = largest.clamp(min=_SMALLEST) / 127
    return scale, torch.zeros_like(scale)


@kernel(
    "quantized_decomposed.choose_qparams_per_token_asymmetric.default",
    "quantized_decomposed._choose_qparams_per_token_asymmetric_impl.default",
    source="XNNPACK, quantization.h",
    accuracy=_ACCURACY,
    nonfinite=NONFINITE,
)
def choose_qparams_per_token_asymmetric(input: torch.Tensor, dtype: torch.dtype) -> _Pair:
    """Return f64 scale and int64 zero point (..., 1) for the range of each row, for int8."""
    del dtype
    low = input.amin(-1, keepdim=True).clamp(max=0)
    high = input.amax(-1, keepdim=True).clamp(min=0)
    scale = ((high - low) / 255.0).clamp(min=torch.finfo(torch.float32).eps)
    least, most = low / scale, high / scale
    point = torch.where(least - 128 + (most + 127) > 0, -128 - least, 127 - most)
    return scale.double(), point.clamp(-128, 127).round().to(torch.int64)


@kernel(
    "quantized_decomposed.quantize_per_token.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    tolerance=0,
    nonfinite=NONFINITE,
)
def quantize_per_token(
    input: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    """Return ``input`` as whole numbers of ``dtype``; ``scales`` and ``zero_points`` broadcast."""
    _check_tokens(input, scales, zero_points)
    whole = (input * (1.0 / scales) + zero_points).round()
    return whole.clamp(quant_min, quant_max).to(dtype)


@kernel("quantized_decomposed.dequantize_per_token.default", source=_SOURCE, accuracy=_ACCURACY)
def dequantize_per_token(
    input: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
    output_dtype: torch.dtype = torch.float32,
) -> torch.Tensor:
    """Return the floats that ``input`` stands for; ``scales`` and ``zero_points`` broadcast."""
    del quant_min, quant_max, dtype
    return ((input - zero_points) * scales).to(output_dtype)


@kernel(
    "quantized_decomposed.quantize_per_channel_group.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    tolerance=0,
    nonfinite="eager refuses NaN, for which it waits for the device",
)
def quantize_per_channel_group(
    input: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
    group_size: int = 128,
) -> torch.Tensor:
    """Return ``input`` (rows, columns) as whole numbers, ``group_size`` columns a scale."""
    groups = input.reshape(-1, check_groups(input, scales, group_size))
    whole = (groups * (1.0 / scales.reshape(-1, 1)) + zero_points.reshape(-1, 1)).round()
    return whole.clamp(quant_min, quant_max).to(dtype).reshape(input.shape)


@kernel(
    "quantized_decomposed.dequantize_per_channel_group.default", source=_SOURCE, accuracy=_ACCURACY
)
def dequantize_per_channel_group(
    input: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor | None,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
    group_size: int = 128,
    output_dtype: torch.dtype = torch.float32,
) -> torch.Tensor:
    """Return the floats of (rows, columns) ``input``, ``group_size`` columns a scale."""
    del quant_min, quant_max, dtype
    groups = input.reshape(-1, check_groups(input, scales, group_size))
    if zero_points is not None:
        groups = groups - zero_points.reshape(-1, 1)
    return (groups * scales.reshape(-1, 1)).reshape(input.shape).to(output_dtype)


def _range(x: torch.Tensor) -> _Pair:
    """Return the least and the greatest of ``x`` and zero."""
    check_float(x)
    return x.amin().clamp(max=0), x.amax().clamp(min=0)


def _at_least(scale: torch.Tensor, eps: float) -> torch.Tensor:
    """Return ``scale`` as f32 (1), at least ``eps``."""
    return scale.float().reshape(1).clamp(min=eps)


def _check_tokens(x: torch.Tensor, scales: torch.Tensor, points: torch.Tensor) -> None:
    tokens = torch.Size(x.shape[:-1]).numel()
    if not tokens == scales.numel() == points.numel():
        raise RuntimeError(
            f"num_tokens: {tokens}, scales: {list(scales.shape)}, zero_points: {list(points.shape)}"
        )
