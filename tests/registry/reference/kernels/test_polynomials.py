"""Orthogonal polynomials of high order, and orders past their bounds."""

from __future__ import annotations

import math

import torch

from op_registry.reference.kernels.chebyshev_polynomials import (
    chebyshev_polynomial_t,
    chebyshev_polynomial_u,
    chebyshev_polynomial_v,
    chebyshev_polynomial_w,
)
from op_registry.reference.kernels.orthogonal_polynomials import (
    hermite_polynomial_h,
    laguerre_polynomial_l,
    legendre_polynomial_p,
)

DOUBLE = torch.float64


def test_values_at_one() -> None:
    """There the four kinds are 1, n + 1, 1 and 2n + 1, up to large orders."""
    orders = torch.tensor([0.0, 1.0, 7.0, 1000.0, 100_000.0], dtype=DOUBLE)
    one = torch.ones((), dtype=DOUBLE)
    assert chebyshev_polynomial_t(one, orders).tolist() == [1.0] * 5
    assert torch.equal(chebyshev_polynomial_u(one, orders), orders + 1)
    assert chebyshev_polynomial_v(one, orders).tolist() == [1.0] * 5
    assert torch.equal(chebyshev_polynomial_w(one, orders), 2 * orders + 1)


def test_outside_of_the_interval() -> None:
    """From 1 on the first kind is the hyperbolic cosine of a multiple."""
    x = torch.tensor([1.001, 1.5, 3.0], dtype=DOUBLE)
    orders = torch.tensor([[5.0], [40.0], [311.0]], dtype=DOUBLE)
    expected = (orders * x.acosh()).cosh()
    torch.testing.assert_close(chebyshev_polynomial_t(x, orders), expected, rtol=1e-11, atol=0)


def test_orders_beyond_the_bounds_are_nan() -> None:
    """In a tensor; a number has no bound where eager has none."""
    x, beyond = torch.tensor(0.5), torch.tensor(65.0)
    for polynomial in (laguerre_polynomial_l, legendre_polynomial_p):
        assert math.isnan(polynomial(x, beyond))
        assert not math.isnan(polynomial(x, 65))
    assert math.isnan(hermite_polynomial_h(x, torch.tensor(129.0)))
    assert math.isnan(hermite_polynomial_h(x, 129))


def test_orders_that_are_no_orders_give_zero() -> None:
    """Negative, NaN and infinite ones."""
    orders = torch.tensor([-1.0, math.nan, math.inf, -math.inf])
    for polynomial in (chebyshev_polynomial_t, hermite_polynomial_h, legendre_polynomial_p):
        assert polynomial(torch.tensor(0.5), orders).tolist() == [0.0] * 4
