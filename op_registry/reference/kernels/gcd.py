"""``gcd``: the greatest common divisor of integers."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import result_type


@kernel(
    "aten.gcd.default",
    source="binary algorithm (Stein 1967)",
    accuracy="exact; the most negative integer, whose magnitude does not fit, is undefined",
)
def gcd(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return the greatest common divisor of each pair of integers; the two broadcast.

    It is not negative, and 0 only of two zeros. Each of a fixed number of steps takes one bit off
    one of the two: twice the bits of the type, without a division.
    """
    dtype = result_type(self, other)
    if dtype.is_floating_point or dtype.is_complex or dtype is torch.bool:
        raise NotImplementedError(f"gcd is not implemented for {dtype}")
    a, b = torch.broadcast_tensors(self.to(dtype), other.to(dtype))
    a, b = (a.abs(), b.abs()) if dtype.is_signed else (a, b)
    # The highest power of two that divides both, or 1 of two zeros.
    common = (a | b) & -(a | b)
    common = torch.where(common == 0, 1, common)
    a, b = _whole(a, common), _whole(b, common)
    odd = (a & 1) == 1
    a, b = torch.where(odd, a, b), torch.where(odd, b, a)
    for _ in range(2 * torch.iinfo(dtype).bits):
        low, high = torch.minimum(a, b), torch.maximum(a, b)
        even = (b & 1) == 0
        a, b = torch.where(even, a, low), torch.where(even, b, high - low) >> 1
    return a * common


def _whole(a: torch.Tensor, divisor: torch.Tensor) -> torch.Tensor:
    return torch.div(a, divisor, rounding_mode="trunc")
