"""Chebyshev polynomials of four kinds, and the same shifted to [0, 1].

``x`` and the order ``n`` broadcast, and either may be a number. Orders are cut off to integers; for
negative ones, NaN and infinity the result is 0.
"""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import floats

_SOURCE = "orders doubled bit by bit; inside of [-1, 1] from order 7 on by angles, as eager"
_ACCURACY = "rounding that grows with the order; outside of [-1, 1] orders count up to 2 ** 24"
_NONFINITE = "eager's recurrence subtracts infinities where the polynomial is infinite"
_FORMS = ("default", "x_scalar", "n_scalar")
_BITS = 24
_BY_ANGLE_FROM = 7
_NEXT = {"t": 0.0, "u": 0.0, "v": -1.0, "w": 1.0}
"""Kind -> what is added in ``P[2k + 1] = 2 * T[k + 1] * P[k] + ...``; in ``P[2k]`` it is -1."""


@kernel(
    *(f"aten.special_chebyshev_polynomial_t.{form}" for form in _FORMS),
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=_NONFINITE,
)
def chebyshev_polynomial_t(x: Any, n: Any) -> torch.Tensor:
    """Return the Chebyshev polynomial of the first kind: ``cos(n * acos(x))``."""
    return _polynomial("t", x, n, shifted=False)


@kernel(
    *(f"aten.special_chebyshev_polynomial_u.{form}" for form in _FORMS),
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=_NONFINITE,
)
def chebyshev_polynomial_u(x: Any, n: Any) -> torch.Tensor:
    """Return the Chebyshev polynomial of the second kind."""
    return _polynomial("u", x, n, shifted=False)


@kernel(
    *(f"aten.special_chebyshev_polynomial_v.{form}" for form in _FORMS),
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=_NONFINITE,
)
def chebyshev_polynomial_v(x: Any, n: Any) -> torch.Tensor:
    """Return the Chebyshev polynomial of the third kind."""
    return _polynomial("v", x, n, shifted=False)


@kernel(
    *(f"aten.special_chebyshev_polynomial_w.{form}" for form in _FORMS),
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=_NONFINITE,
)
def chebyshev_polynomial_w(x: Any, n: Any) -> torch.Tensor:
    """Return the Chebyshev polynomial of the fourth kind."""
    return _polynomial("w", x, n, shifted=False)


@kernel(
    *(f"aten.special_shifted_chebyshev_polynomial_t.{form}" for form in _FORMS),
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=_NONFINITE,
)
def shifted_chebyshev_polynomial_t(x: Any, n: Any) -> torch.Tensor:
    """Return the Chebyshev polynomial of the first kind: ``cos(n * acos(x))`` of ``2 * x - 1``."""
    return _polynomial("t", x, n, shifted=True)


@kernel(
    *(f"aten.special_shifted_chebyshev_polynomial_u.{form}" for form in _FORMS),
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=_NONFINITE,
)
def shifted_chebyshev_polynomial_u(x: Any, n: Any) -> torch.Tensor:
    """Return the Chebyshev polynomial of the second kind of ``2 * x - 1``."""
    return _polynomial("u", x, n, shifted=True)


@kernel(
    *(f"aten.special_shifted_chebyshev_polynomial_v.{form}" for form in _FORMS),
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=_NONFINITE,
)
def shifted_chebyshev_polynomial_v(x: Any, n: Any) -> torch.Tensor:
    """Return the Chebyshev polynomial of the third kind of ``2 * x - 1``."""
    return _polynomial("v", x, n, shifted=True)


@kernel(
    *(f"aten.special_shifted_chebyshev_polynomial_w.{form}" for form in _FORMS),
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=_NONFINITE,
)
def shifted_chebyshev_polynomial_w(x: Any, n: Any) -> torch.Tensor:
    """Return the Chebyshev polynomial of the fourth kind of ``2 * x - 1``."""
    return _polynomial("w", x, n, shifted=True)


def _polynomial(kind: str, x: Any, n: Any, *, shifted: bool) -> torch.Tensor:
    def of(y: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
        y = y + y - 1 if shifted else y
        order = torch.where(order.isinf() | order.isnan(), -1, order.trunc())
        result = _by_doubling(kind, y, order)
        by_angle = (y.abs() < 1) & (order >= _BY_ANGLE_FROM)
        result = torch.where(by_angle, _by_angle(kind, y.clamp(-1, 1), order), result)
        result = torch.where(order == 0, 1, result)
        return torch.where(order < 0, 0, result)

    return floats(of, x, n)


def _by_angle(kind: str, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """Return the polynomial of ``x`` inside of [-1, 1] as a quotient of sines or cosines."""
    angle = x.acos()
    if kind == "t":
        return (n * angle).cos()
    if kind == "u":
        return ((n + 1) * angle).sin() / angle.sin()
    half = angle / 2
    if kind == "v":
        return ((n + 0.5) * angle).cos() / half.cos()
    return ((n + 0.5) * angle).sin() / half.sin()


def _by_doubling(kind: str, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """Return the polynomial, its order built up bit by bit from the highest.

    Beside it run the polynomials of the first kind of the same order and of the next.
    """
    bits = n.clamp(0, 2**_BITS - 1).to(torch.int32)
    first, following = torch.ones_like(x), x
    result = first
    for bit in range(_BITS - 1, -1, -1):
        odd = (bits >> bit) & 1 == 1
        middle = 2 * first * following - x
        result = torch.where(odd, 2 * following * result + _NEXT[kind], 2 * first * result - 1)
        first, following = (
            torch.where(odd, middle, 2 * first * first - 1),
            torch.where(odd, 2 * following * following - 1, middle),
        )
    return first if kind == "t" else result
