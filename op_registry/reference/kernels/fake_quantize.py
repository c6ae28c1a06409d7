"""Fake quantisation: values are rounded to what quantised values could be, and stay floats."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._matrices import applied
from op_registry.reference.kernels._rounding import (
    NONFINITE,
    StraightThrough,
    by_channel,
    check_bounds,
    rounded,
)

_SOURCE = "definition (Jacob et al. 2018)"
_ACCURACY = "equal to eager"
_Pair = tuple[torch.Tensor, torch.Tensor]


@kernel(
    "aten.fake_quantize_per_tensor_affine_cachemask.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=NONFINITE,
)
def fake_quantize_per_tensor_affine_cachemask(
    self: torch.Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> _Pair:
    """Return ``self`` rounded with one scale and zero point, and a mask: true if not cut off."""
    check_bounds(quant_min, quant_max)
    if not quant_min <= zero_point <= quant_max:
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    step = torch.full((), scale, dtype=torch.float32, device=self.device)
    point = torch.full((), zero_point, dtype=torch.int32, device=self.device)
    return rounded(self, step, point, quant_min, quant_max)


@kernel(
    "aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=NONFINITE,
)
def fake_quantize_per_tensor_cachemask_tensor_qparams(
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    fake_quant_enabled: torch.Tensor,
    quant_min: int,
    quant_max: int,
) -> _Pair:
    """Return ``self`` rounded with ``scale`` and ``zero_point`` of one element, and a mask.

    ``self`` comes back as it is, and the mask all true, where ``fake_quant_enabled`` is 0.
    """
    check_bounds(quant_min, quant_max)
    off = one(fake_quant_enabled) == 0
    result, inside = rounded(self, one(scale), one(zero_point), quant_min, quant_max)
    return torch.where(off, self, result), inside | off


@kernel(
    "aten.fake_quantize_per_tensor_affine.tensor_qparams",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=NONFINITE,
)
def fake_quantize_per_tensor_affine_tensor_qparams(
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    quant_min: int,
    quant_max: int,
) -> torch.Tensor:
    """Return ``self`` rounded with ``scale`` and ``zero_point`` of one element."""
    check_bounds(quant_min, quant_max)
    bounds = (quant_min, quant_max)
    result: torch.Tensor = applied(StraightThrough, self, one(scale), one(zero_point), *bounds)
    return result


@kernel(
    "aten.fake_quantize_per_channel_affine_cachemask.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=NONFINITE,
)
def fake_quantize_per_channel_affine_cachemask(
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> _Pair:
    """Return ``self`` rounded with one scale and zero point a slice of ``axis``, and a mask.

    The mask is true where nothing was cut off. ``scale`` and ``zero_point`` are (self.shape[axis]).
    """
    _check_dtypes(scale, zero_point)
    check_bounds(quant_min, quant_max)
    return rounded(self, *by_channel(self, scale, zero_point, axis), quant_min, quant_max)


@kernel(
    "aten.fake_quantize_per_channel_affine.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=NONFINITE,
)
def fake_quantize_per_channel_affine(
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> torch.Tensor:
    """Return ``self`` rounded with one scale and zero point a slice of ``axis``."""
    _check_dtypes(scale, zero_point)
    check_bounds(quant_min, quant_max)
    channels = by_channel(self, scale, zero_point, axis)
    result: torch.Tensor = applied(StraightThrough, self, *channels, quant_min, quant_max)
    return result


def one(tensor: torch.Tensor) -> torch.Tensor:
    """Return the first element of ``tensor`` without dimensions; the host does not wait for it."""
    return tensor.reshape(-1)[0]


def _check_dtypes(scale: torch.Tensor, zero_point: torch.Tensor) -> None:
    if scale.dtype not in {torch.float32, torch.bfloat16}:
        raise RuntimeError(f"Scale must be Float or BFloat16, found {scale.dtype}")
    if zero_point.dtype not in {torch.int32, torch.float32, torch.float16}:
        raise RuntimeError(f"Zero-point must be Int32, Float or Half, found {zero_point.dtype}")
