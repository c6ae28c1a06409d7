"""Fake quantisation whose scale and zero point are learned, with its backward."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._rounding import (
    NONFINITE,
    by_channel,
    check_bounds,
    rounded,
    steps,
)
from op_registry.reference.kernels.fake_quantize import one

_SOURCE = "learned step size quantisation (Esser et al. 2020)"
_ACCURACY = "equal to eager"
_SUMMED = "rounding of sums"
_Gradients = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


@kernel(
    "aten._fake_quantize_learnable_per_tensor_affine.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=NONFINITE,
)
def fake_quantize_learnable_per_tensor_affine(
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
) -> torch.Tensor:
    """Return ``self`` rounded with ``scale`` and the rounded ``zero_point``, one element each."""
    del grad_factor
    check_bounds(quant_min, quant_max)
    point = one(zero_point).float().round().clamp(quant_min, quant_max).to(torch.int32)
    return rounded(self, one(scale), point, quant_min, quant_max)[0]


@kernel(
    "aten._fake_quantize_learnable_per_channel_affine.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=NONFINITE,
)
def fake_quantize_learnable_per_channel_affine(
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
) -> torch.Tensor:
    """Return ``self`` rounded with a scale and a rounded zero point a slice of ``axis``."""
    del grad_factor
    check_bounds(quant_min, quant_max)
    point = zero_point.float().round().clamp(quant_min, quant_max).to(torch.int32)
    return rounded(self, *by_channel(self, scale, point, axis), quant_min, quant_max)[0]


@kernel(
    "aten._fake_quantize_learnable_per_tensor_affine_backward.default",
    source=_SOURCE,
    accuracy=_SUMMED,
    nonfinite=NONFINITE,
)
def fake_quantize_learnable_per_tensor_affine_backward(
    grad: torch.Tensor,
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
) -> _Gradients:
    """Return the f32 gradients of ``self``, ``scale`` (1) and ``zero_point`` (1).

    The last two are multiplied by ``grad_factor``. As in eager, the zero point is rounded
    otherwise than in the forward: towards zero, after a half is added.
    """
    _check(grad, self, quant_min, quant_max)
    if self.numel() == 0:
        return self.clone(), scale.clone(), zero_point.clone()
    point = (one(zero_point).float() + 0.5).clamp(quant_min, quant_max).trunc()
    of_self, of_scale, of_point = _pulled(grad, self, one(scale), point, quant_min, quant_max)
    sums = [part.sum().reshape(1) * grad_factor for part in (of_scale, of_point)]
    return of_self, sums[0], sums[1]


@kernel(
    "aten._fake_quantize_learnable_per_channel_affine_backward.default",
    source=_SOURCE,
    accuracy=_SUMMED,
    nonfinite=NONFINITE,
)
def fake_quantize_learnable_per_channel_affine_backward(
    grad: torch.Tensor,
    self: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
) -> _Gradients:
    """Return the f32 gradients of ``self``, ``scale`` (C) and ``zero_point`` (C).

    C is self.shape[axis]; the last two are multiplied by ``grad_factor``.
    """
    _check(grad, self, quant_min, quant_max)
    if self.numel() == 0:
        return self.clone(), scale.clone(), zero_point.clone()
    point = zero_point.float().round().clamp(quant_min, quant_max)
    channels = by_channel(self, scale.float(), point, axis)
    of_self, of_scale, of_point = _pulled(grad, self, *channels, quant_min, quant_max)
    others = [dim for dim in range(self.dim()) if dim != axis]
    sums = [(part.sum(others) if others else part) * grad_factor for part in (of_scale, of_point)]
    return of_self, sums[0], sums[1]


def _pulled(
    grad: torch.Tensor,
    x: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    low: int,
    high: int,
) -> _Gradients:
    """Return what each element adds to the gradients of ``x``, scale and zero point, f32.

    The zero point is added before the rounding, as in eager's backward, not after it.
    """
    grad, x, scale = grad.float(), x.float(), scale.float()
    whole = steps(x, scale, zero_point)
    held = whole.clamp(low, high)
    inside = whole == held
    off = (held - zero_point) * scale - x
    return (
        grad * inside,
        grad * torch.where(inside, off * (1 / scale), held - zero_point),
        torch.where(inside, 0, -grad * scale),
    )


def _check(grad: torch.Tensor, x: torch.Tensor, low: int, high: int) -> None:
    if grad.shape != x.shape:
        raise RuntimeError("`X` and `dY` are not the same size")
    if not low <= 0 <= high:
        raise RuntimeError("Expecting `quant_min` <= 0 and `quant_max` >= 0")
    if {grad.dtype, x.dtype} - {torch.float32, torch.bfloat16}:
        raise RuntimeError(f"Expected float32 or bfloat16, got {x.dtype} and {grad.dtype}")
