"""Ops on the parts of a floating-point number: ``copysign``, ``nextafter``, ``frexp``."""

from __future__ import annotations

import math
from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import float_type, result_type

_BITS = {
    torch.float64: torch.int64,
    torch.float32: torch.int32,
    torch.bfloat16: torch.int16,
    torch.float16: torch.int16,
}
"""Float type -> integer type of the same width."""


@kernel("aten.copysign.Tensor", "aten.copysign.Scalar", source="IEEE 754", accuracy="exact")
def copysign(self: torch.Tensor, other: Any) -> torch.Tensor:
    """Return the magnitude of ``self`` with the sign of ``other``, of -0.0 too."""
    size = self.to(float_type(self, other)).abs()
    if not isinstance(other, torch.Tensor):
        return -size if math.copysign(1, other) < 0 else size
    return torch.where(other.signbit(), -size, size)


@kernel(
    "aten.nextafter.default",
    source="IEEE 754: neighbours differ by one as integers",
    accuracy="exact where subnormal numbers are kept",
)
def nextafter(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return the neighbour of ``self`` in the direction of ``other``; the two broadcast."""
    dtype = result_type(self, other)
    if dtype not in _BITS:
        raise NotImplementedError(f"nextafter is not implemented for {dtype}")
    a, b = torch.broadcast_tensors(self.to(dtype), other.to(dtype))
    away = (a > 0) == (b > a)
    step = torch.where(away, 1, -1).to(_BITS[dtype])
    moved = (a.view(_BITS[dtype]) + step).view(dtype)
    least = torch.ones_like(a, dtype=_BITS[dtype]).view(dtype)
    moved = torch.where(a == 0, torch.where(b > 0, least, -least), moved)
    return torch.where(a == b, b, torch.where(a.isnan() | b.isnan(), a + b, moved))


@kernel(
    "aten.frexp.Tensor",
    source="IEEE 754: the bits of the exponent",
    accuracy="exact where subnormal numbers are kept",
)
def frexp(self: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return mantissa and exponent: ``self`` is mantissa times 2 to the exponent (int32).

    The mantissa is at least 0.5 and below 1. Zero, infinity and NaN are their own mantissa, with
    exponent 0.
    """
    if self.dtype not in _BITS:
        raise RuntimeError(f"torch.frexp() only supports floating-point dtypes, got {self.dtype}")
    wide = self if self.dtype is torch.float64 else self.to(torch.float32)
    digits, bias = (52, 1022) if wide.dtype is torch.float64 else (23, 126)
    small = wide.abs() < 2.0 ** (1 - bias)
    scaled = torch.where(small, wide * 2.0 ** (digits + 1), wide)
    bits = scaled.view(_BITS[wide.dtype])
    field = 2 * bias + 3
    exponent = ((bits >> digits) & field) - bias - torch.where(small, digits + 1, 0)
    half = (bits & ~(field << digits)) | (bias << digits)
    plain = (wide == 0) | wide.isinf() | wide.isnan()
    mantissa = torch.where(plain, wide, half.view(wide.dtype))
    return mantissa.to(self.dtype), torch.where(plain, 0, exponent).to(torch.int32)
