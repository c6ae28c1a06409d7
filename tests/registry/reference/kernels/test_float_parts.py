"""Parts of floating-point numbers: zero, subnormal numbers, infinity."""

from __future__ import annotations

import math

import pytest
import torch

from op_registry.reference.kernels.float_parts import copysign, frexp, nextafter

GREATEST = torch.finfo(torch.float32).max


@pytest.mark.parametrize(
    ("start", "towards", "expected"),
    [
        (0.0, 1.0, 2.0**-149),
        (-0.0, -1.0, -(2.0**-149)),
        (2.0**-149, -1.0, 0.0),
        (1.0, math.inf, 1 + 2.0**-23),
        (1.0, 0.0, 1 - 2.0**-24),
        (GREATEST, math.inf, math.inf),
        (math.inf, 0.0, GREATEST),
        (-1.0, 0.0, -1 + 2.0**-24),
    ],
)
def test_neighbours(start: float, towards: float, expected: float) -> None:
    """The next number is found across zero, among subnormal numbers and at infinity."""
    assert float(nextafter(torch.tensor(start), torch.tensor(towards))) == expected


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_frexp_takes_subnormal_numbers_apart(dtype: torch.dtype) -> None:
    """Mantissa and exponent are eager's, and give the number back."""
    x = torch.tensor([1, 3, 1000], dtype=dtype) * torch.finfo(dtype).smallest_normal / 4
    mantissa, exponent = frexp(x)
    for ours, theirs in zip((mantissa, exponent), torch.frexp(x), strict=True):
        assert torch.equal(ours, theirs)
    assert torch.equal(torch.ldexp(mantissa.double(), exponent), x.double())


def test_the_sign_of_minus_zero_is_copied() -> None:
    """Of a tensor and of a number."""
    x = torch.tensor([1.0, -2.0])
    assert copysign(x, torch.tensor(-0.0)).tolist() == [-1.0, -2.0]
    assert copysign(x, -0.0).tolist() == [-1.0, -2.0]
    assert copysign(x, 0).tolist() == [1.0, 2.0]
