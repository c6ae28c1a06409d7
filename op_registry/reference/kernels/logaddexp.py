"""``logaddexp`` and ``logaddexp2``: sums of exponentials that do not overflow."""

from __future__ import annotations

import math
from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import floats, result_type

_ACCURACY = "float32 rounding; 16-bit types are computed in float32 and rounded once"


@kernel(
    "aten.logaddexp.default",
    source="max(a, b) + log1p(exp(-|a - b|))",
    accuracy=f"{_ACCURACY}; complex numbers with an infinite part as the backend's exp and log go",
)
def logaddexp(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return ``log(exp(self) + exp(other))`` for each pair of elements; the two broadcast."""
    dtype = result_type(self, other)
    if dtype.is_complex:
        return _complex(*torch.broadcast_tensors(self.to(dtype), other.to(dtype)))
    return floats(lambda a, b: _joined(a, b, torch.exp, 1.0), self, other)


@kernel("aten.logaddexp2.default", source="max(a, b) + log2(1 + 2 ** -|a - b|)", accuracy=_ACCURACY)
def logaddexp2(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return ``log2(2 ** self + 2 ** other)`` for each pair of elements; the two broadcast."""
    return floats(lambda a, b: _joined(a, b, torch.exp2, 1 / math.log(2)), self, other)


def _joined(a: torch.Tensor, b: torch.Tensor, power: Any, unit: float) -> torch.Tensor:
    sum_ = torch.maximum(a, b) + power(-(a - b).abs()).log1p() * unit
    # The difference of equal infinities is NaN.
    return torch.where((a == b) & a.isinf(), a, sum_)


def _complex(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the same with the larger real part taken out."""
    first = torch.real(a) >= torch.real(b)
    high, low = torch.where(first, a, b), torch.where(first, b, a)
    sum_ = (low - high).exp().log1p() + high
    real = torch.real(low)
    infinite = real.isinf() & (real == torch.real(high))
    sum_ = torch.where(infinite & (real > 0), (low.exp() + high.exp()).log(), sum_)
    sum_ = torch.where(infinite & (real < 0), low, sum_)
    return torch.where(low.isnan(), complex(math.nan, math.nan), sum_)
