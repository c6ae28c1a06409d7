"""Hermite, Laguerre and Legendre polynomials by their three-term recurrences.

``x`` and the order ``n`` broadcast, and either may be a number. Orders are cut off to integers; for
negative ones, NaN and infinity the result is 0. An order that is a tensor is not read: the
recurrence runs to a bound, and each element keeps what it comes to at its own order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import floats

_SOURCE = "three-term recurrence"
_ACCURACY = "rounding that grows with the order"
_BOUND = 64
"""Highest order of Laguerre and Legendre polynomials that a tensor may ask for; NaN beyond."""
_SINGLE_HERMITE, _DOUBLE_HERMITE = 128, 512
"""Highest orders that eager computes of Hermite polynomials, by dtype; NaN beyond."""
_BOUNDED = f"{_ACCURACY}; NaN for orders in a tensor above {_BOUND}, where eager goes on"
_NONFINITE = "eager stops its recurrence at the first NaN, of infinity at other orders"
_FORMS = ("default", "x_scalar", "n_scalar")
_Next = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""The polynomial of order k at x, given those of the two orders before: (k, x, first, second)."""


@kernel(
    *(f"aten.special_hermite_polynomial_h.{form}" for form in _FORMS),
    source=_SOURCE,
    accuracy=_ACCURACY,
)
def hermite_polynomial_h(x: Any, n: Any) -> torch.Tensor:
    """Return the physicist's Hermite polynomial; NaN above order 128, in float64 above 512."""
    return _polynomial(
        x, n, lambda y: y + y, lambda k, y, p, q: (y + y) * q - 2 * (k - 1) * p, hermite=True
    )


@kernel(
    *(f"aten.special_hermite_polynomial_he.{form}" for form in _FORMS),
    source=_SOURCE,
    accuracy=_ACCURACY,
)
def hermite_polynomial_he(x: Any, n: Any) -> torch.Tensor:
    """Return the probabilist's Hermite polynomial; NaN above order 128, in float64 above 512."""
    return _polynomial(x, n, lambda y: y, lambda k, y, p, q: y * q - (k - 1) * p, hermite=True)


@kernel(
    *(f"aten.special_laguerre_polynomial_l.{form}" for form in _FORMS),
    source=_SOURCE,
    accuracy=_BOUNDED,
    nonfinite=_NONFINITE,
)
def laguerre_polynomial_l(x: Any, n: Any) -> torch.Tensor:
    """Return the Laguerre polynomial."""
    return _polynomial(
        x, n, lambda y: 1 - y, lambda k, y, p, q: (2 - 1 / k - y * (1 / k)) * q - (1 - 1 / k) * p
    )


@kernel(
    *(f"aten.special_legendre_polynomial_p.{form}" for form in _FORMS),
    source=_SOURCE,
    accuracy=_BOUNDED,
    nonfinite=_NONFINITE,
)
def legendre_polynomial_p(x: Any, n: Any) -> torch.Tensor:
    """Return the Legendre polynomial."""
    return _polynomial(x, n, lambda y: y, lambda k, y, p, q: (2 - 1 / k) * y * q - (1 - 1 / k) * p)


def _polynomial(
    x: Any,
    n: Any,
    first: Callable[[torch.Tensor], torch.Tensor],
    step: _Next,
    *,
    hermite: bool = False,
) -> torch.Tensor:
    """Return the polynomial that ``first`` is at order 1."""

    def of(y: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
        bound = _BOUND
        if hermite:
            bound = _DOUBLE_HERMITE if y.dtype is torch.float64 else _SINGLE_HERMITE
        if isinstance(n, torch.Tensor):
            return _of_orders(y, order, bound, first(y), step)
        number = int(n) if math.isfinite(n) else -1
        if hermite and number > bound:
            return torch.full_like(y, math.nan)
        return _of_order(y, number, first(y), step)

    return floats(of, x, n)


def _of_order(x: torch.Tensor, n: int, first: torch.Tensor, step: _Next) -> torch.Tensor:
    before, last = torch.ones_like(x), first
    if n <= 0:
        return before if n == 0 else torch.zeros_like(x)
    for k in range(2, n + 1):
        before, last = last, step(k, x, before, last)
    return last


def _of_orders(
    x: torch.Tensor, n: torch.Tensor, bound: int, first: torch.Tensor, step: _Next
) -> torch.Tensor:
    n = torch.where(n.isinf() | n.isnan(), -1, n.trunc())
    before, last = torch.ones_like(x), first
    result = torch.where(n == 1, last, torch.where(n == 0, before, 0))
    for k in range(2, bound + 1):
        before, last = last, step(k, x, before, last)
        result = torch.where(n == k, last, result)
    return torch.where(n > bound, math.nan, result)
