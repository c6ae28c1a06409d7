"""The greatest common divisor, against Python's."""

from __future__ import annotations

import math
import random

import pytest
import torch

from op_registry.reference.kernels.gcd import gcd


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [(torch.int64, 62), (torch.int32, 31), (torch.int16, 15), (torch.int8, 7), (torch.uint8, 8)],
)
def test_gcd_of_all_sizes(dtype: torch.dtype, bits: int) -> None:
    """Numbers up to the type's width, with common factors, of both signs, and zero."""
    chosen = random.Random(0)  # noqa: S311 - numbers to try, no secrets
    pairs = [(0, 0), (0, 6), (12, 0), (2 ** (bits - 1), 2 ** (bits - 2))]
    for _ in range(200):
        factor = chosen.randrange(1, 2 ** (bits // 3))
        most = 2**bits // factor
        pairs.append((factor * chosen.randrange(most), factor * chosen.randrange(most)))
    if dtype.is_signed:
        pairs = [(a, -b) for a, b in pairs]
    left, right = (torch.tensor(side, dtype=dtype) for side in zip(*pairs, strict=True))
    assert gcd(left, right).tolist() == [math.gcd(a, b) for a, b in pairs]


def test_consecutive_fibonacci_numbers() -> None:
    """The pairs that take Euclid's algorithm longest."""
    a, b = 1, 1
    while b < 2**61:
        a, b = b, a + b
    assert int(gcd(torch.tensor(a), torch.tensor(b))) == 1
