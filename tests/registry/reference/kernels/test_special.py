"""Special functions: far from where torch's own inputs lie, against identities and float64."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
import torch

from op_registry.reference.kernels import bessel, modified_bessel
from op_registry.reference.kernels.airy import airy_ai
from op_registry.reference.kernels.erfc import erfc, erfcx, log_ndtr
from op_registry.reference.kernels.igamma import igamma, igammac
from op_registry.reference.kernels.normal_quantile import ndtri
from op_registry.reference.kernels.zeta import zeta

if TYPE_CHECKING:
    from collections.abc import Callable

DOUBLE = torch.float64


def _relative(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float(((found - expected) / expected).abs().max())


@pytest.mark.parametrize(
    ("ours", "theirs", "low", "high"),
    [
        (erfc, torch.special.erfc, -6, 26),
        (erfcx, torch.special.erfcx, -20, 1e6),
        (log_ndtr, torch.special.log_ndtr, -1e4, 8),
    ],
)
def test_tails_are_right_relatively(
    ours: Callable[[torch.Tensor], torch.Tensor],
    theirs: Callable[[torch.Tensor], torch.Tensor],
    low: float,
    high: float,
) -> None:
    """Where the result is tiny or huge it still has nearly all digits of float64."""
    x = torch.linspace(low, high, 4001, dtype=DOUBLE)
    assert _relative(ours(x), theirs(x)) < 1e-13


def test_products_of_modified_bessel_functions() -> None:
    """I0 K1 + I1 K0 = 1 / x (their Wronskian), on both sides of every split."""
    x = torch.linspace(0.05, 60, 5001, dtype=DOUBLE)
    i0, i1 = modified_bessel.i0(x), modified_bessel.i1(x)
    k0, k1 = modified_bessel.modified_bessel_k0(x), modified_bessel.modified_bessel_k1(x)
    assert _relative(i0 * k1 + i1 * k0, 1 / x) < 1e-14


def test_products_of_bessel_functions() -> None:
    """J1 Y0 - J0 Y1 = 2 / (pi x), as nearly as eager's tables allow."""
    x = torch.linspace(0.05, 60, 5001, dtype=DOUBLE)
    j0, j1 = bessel.bessel_j0(x), bessel.bessel_j1(x)
    y0, y1 = bessel.bessel_y0(x), bessel.bessel_y1(x)
    assert _relative(j1 * y0 - j0 * y1, 2 / (math.pi * x)) < 1e-6


def test_the_slope_of_i1() -> None:
    """Its own gradient is one half at zero, and numeric differentiation's elsewhere."""
    x = torch.tensor([-9.0, -1.0, 0.0, 0.5, 8.5], dtype=DOUBLE, requires_grad=True)
    for function in (modified_bessel.i1, modified_bessel.i1e):
        assert torch.autograd.gradcheck(function, (x[[0, 1, 3, 4]].detach().requires_grad_(),))
        (slope,) = torch.autograd.grad(function(x).sum(), x)
        assert float(slope[2]) == 0.5


def test_airy_is_smooth_where_its_parts_meet() -> None:
    """The two sides of each split agree: below -2.09 as nearly as eager's tables allow."""
    for edge, apart in ((-2.09, 5e-6), (2.09, 1e-8)):
        low, high = airy_ai(torch.tensor([edge - 1e-9, edge + 1e-9], dtype=DOUBLE))
        assert abs(float(high - low)) < apart


def test_quantiles_invert_the_distribution() -> None:
    """From the far tail to the middle, and at the ends."""
    p = torch.logspace(-300, -0.001, 400, dtype=DOUBLE)
    assert _relative(torch.special.log_ndtr(ndtri(p)), p.log()) < 1e-12
    ends = ndtri(torch.tensor([0.0, 1.0, -0.1, 1.1]))
    assert ends[:2].tolist() == [-math.inf, math.inf]
    assert bool(ends[2:].isnan().all())


def test_incomplete_gamma_of_whole_numbers() -> None:
    """The upper part is a Poisson sum, from single numbers up to those of the expansion."""
    for a in (1, 3, 15, 21, 60):
        x = torch.linspace(0.1, 3 * a, 200, dtype=DOUBLE)
        terms = [(k * x.log() - x - math.lgamma(k + 1)).exp() for k in range(a)]
        upper = torch.stack(terms).sum(0)
        torch.testing.assert_close(
            igammac(torch.tensor(float(a), dtype=DOUBLE), x), upper, rtol=0, atol=1e-13
        )
        torch.testing.assert_close(
            igamma(torch.tensor(float(a), dtype=DOUBLE), x), 1 - upper, rtol=0, atol=1e-13
        )


def test_incomplete_gamma_of_large_numbers() -> None:
    """Around a million both parts are those of a normal distribution, as float32 can tell."""
    a = torch.tensor(1e6)
    x = a + torch.tensor([-3e3, 0.0, 3e3])
    normal = torch.special.ndtr(torch.tensor([-3.0, 0.0, 3.0]))
    torch.testing.assert_close(igamma(a, x), normal, rtol=0, atol=1e-3)
    torch.testing.assert_close(igamma(a, x) + igammac(a, x), torch.ones(3))


def test_zeta_of_known_values() -> None:
    """Euler's sums, and an argument so negative that a hundred terms lie below zero."""
    two, four = torch.tensor(2.0, dtype=DOUBLE), torch.tensor(4.0, dtype=DOUBLE)
    one = torch.tensor(1.0, dtype=DOUBLE)
    assert math.isclose(zeta(two, one), math.pi**2 / 6, rel_tol=1e-14)
    assert math.isclose(zeta(four, one), math.pi**4 / 90, rel_tol=1e-14)
    far = torch.tensor(-100.25, dtype=DOUBLE)
    for s in (2.0, 3.0):
        places = torch.arange(101, dtype=DOUBLE) + far
        direct = (places**-s).sum() + zeta(torch.tensor(s, dtype=DOUBLE), far + 101)
        assert math.isclose(zeta(torch.tensor(s, dtype=DOUBLE), far), direct, rel_tol=1e-13)
