"""Chebyshev polynomials of four kinds, and the same shifted to [0, 1].

``x`` and the order ``n`` broadcast, and either may be a number. Orders are cut off to integers; for
negative ones, NaN and infinity the result is 0.
"""

from __future__ import annotations

import math
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
_State = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""The polynomials of the first kind of one order and of the next, and that of the kind itself."""


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
        if isinstance(n, torch.Tensor):
            return _of_orders(kind, y, order)
        return _of_order(kind, y, int(n) if math.isfinite(n) else -1)

    return floats(of, x, n)


def _of_order(kind: str, x: torch.Tensor, n: int) -> torch.Tensor:
    if n <= 0:
        return torch.full_like(x, float(n == 0))
    state = _start(x)
    for bit in f"{n:b}":
        state = _doubled(kind, x, state, odd=bit == "1")
    result = state[0] if kind == "t" else state[2]
    if n < _BY_ANGLE_FROM:
        return result
    return torch.where(x.abs() < 1, _by_angle(kind, x.clamp(-1, 1), n), result)


def _of_orders(kind: str, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    n = torch.where(n.isinf() | n.isnan(), -1, n.trunc())
    bits = n.clamp(0, 2**_BITS - 1).to(torch.int32)
    state = _start(x)
    for place in range(_BITS - 1, -1, -1):
        odd = (bits >> place) & 1 == 1
        higher, lower = (_doubled(kind, x, state, odd=choice) for choice in (True, False))
        first, following, result = (
            torch.where(odd, a, b) for a, b in zip(higher, lower, strict=True)
        )
        state = first, following, result
    result = state[0] if kind == "t" else state[2]
    by_angle = (x.abs() < 1) & (n >= _BY_ANGLE_FROM)
    result = torch.where(by_angle, _by_angle(kind, x.clamp(-1, 1), n), result)
    return torch.where(n < 0, 0, torch.where(n == 0, 1, result))


def _by_angle(kind: str, x: torch.Tensor, n: torch.Tensor | float) -> torch.Tensor:
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


def _start(x: torch.Tensor) -> _State:
    return torch.ones_like(x), x, torch.ones_like(x)


def _doubled(kind: str, x: torch.Tensor, state: _State, *, odd: bool) -> _State:
    """Return the polynomials at twice the order, or with ``odd`` at one more than that."""
    first, following, result = state
    middle = 2 * first * following - x
    if odd:
        return middle, 2 * following * following - 1, 2 * following * result + _NEXT[kind]
    return 2 * first * first - 1, middle, 2 * first * result - 1
