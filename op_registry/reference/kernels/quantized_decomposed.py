"""``quantized_decomposed``: quantisation of exported graphs, as plain arithmetic.

Where PyTorch's own composites read a scale or zero point back to the host, these keep it on the
device. Ties round to even; a division by a scale is a product with its reciprocal.
"""

from __future__ import annotations

import torch

# Makes the ops known; torch itself does so only when something is quantised.
import torch.ao.quantization.fx._decomposed

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._quantised import (
    check_float,
    check_given,
    dequantised,
    one,
    quantised,
    scaled,
)
from op_registry.reference.kernels._rounding import NONFINITE, by_channel, rounded

_SOURCE = "definition (Jacob et al. 2018)"
_ACCURACY = "equal to eager"


@kernel(
    "quantized_decomposed.quantize_per_tensor.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    tolerance=0,
    nonfinite=NONFINITE,
)
def quantize_per_tensor(
    input: torch.Tensor,
    scale: float,
    zero_point: int,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    """Return ``input`` as whole numbers of ``dtype``."""
    wide = check_float(input)
    return quantised(wide, 1.0 / scale, zero_point, quant_min, quant_max, dtype)


@kernel(
    "quantized_decomposed.quantize_per_tensor.tensor",
    "quantized_decomposed.quantize_per_tensor.tensor2",
    source=_SOURCE,
    accuracy=_ACCURACY,
    tolerance=0,
    nonfinite=NONFINITE,
)
def quantize_per_tensor_tensor(
    input: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    quant_min: int | torch.Tensor,
    quant_max: int | torch.Tensor,
    dtype: torch.dtype,
) -> torch.Tensor:
    """Return ``input`` as whole numbers of ``dtype``; tensors of one element say how."""
    wide = check_float(input)
    inverse = (1.0 / one(scale).double()).float()
    return quantised(wide, inverse, one(zero_point), quant_min, quant_max, dtype)


@kernel("quantized_decomposed.dequantize_per_tensor.default", source=_SOURCE, accuracy=_ACCURACY)
def dequantize_per_tensor(
    input: torch.Tensor,
    scale: float,
    zero_point: int,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
    *,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Return the floats, f32 or ``out_dtype``, that the whole numbers ``input`` stand for."""
    del quant_min, quant_max
    check_given(input, dtype)
    return scaled(input.to(out_dtype or torch.float32) - zero_point, scale)


@kernel(
    "quantized_decomposed.dequantize_per_tensor.tensor",
    "quantized_decomposed.dequantize_per_tensor.tensor2",
    source=_SOURCE,
    accuracy=_ACCURACY,
)
def dequantize_per_tensor_tensor(
    input: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    quant_min: int | torch.Tensor,
    quant_max: int | torch.Tensor,
    dtype: torch.dtype,
    *,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Return the floats, f32 or ``out_dtype``, that the whole numbers ``input`` stand for."""
    del quant_min, quant_max
    check_given(input, dtype)
    return scaled(input.to(out_dtype or torch.float32) - one(zero_point), one(scale))


@kernel(
    "quantized_decomposed.quantize_per_channel.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    tolerance=0,
    nonfinite=NONFINITE,
)
def quantize_per_channel(
    input: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    """Return ``input`` as whole numbers of ``dtype``, with a scale a slice of ``axis``."""
    wide = check_float(input)
    scale, point = by_channel(wide, scales, zero_points, axis)
    return quantised(wide, 1.0 / scale, point, quant_min, quant_max, dtype)


@kernel("quantized_decomposed.dequantize_per_channel.default", source=_SOURCE, accuracy=_ACCURACY)
def dequantize_per_channel(
    input: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor | None,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
    *,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Return the floats that ``input`` stands for, with a scale a slice of ``axis``."""
    del quant_min, quant_max
    check_given(input, dtype)
    points = torch.zeros_like(scales, dtype=torch.int32) if zero_points is None else zero_points
    scale, point = by_channel(input, scales, points, axis)
    return dequantised(input, scale, point if zero_points is not None else None, out_dtype)


@kernel(
    "quantized_decomposed.fake_quant_per_channel.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=NONFINITE,
)
def fake_quant_per_channel(
    input: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> torch.Tensor:
    """Return f32 ``input`` rounded, with a scale and zero point a slice of ``axis``."""
    check_given(input, torch.float32)
    channels = by_channel(input, scales, zero_points.to(torch.int32), axis)
    return rounded(input, *channels, quant_min, quant_max)[0]


@kernel(
    "quantized_decomposed.convert_element_type.no_fuse", source="definition", accuracy=_ACCURACY
)
def convert_element_type(input: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return a copy of ``input`` as ``dtype``."""
    return input.to(dtype, copy=True)
