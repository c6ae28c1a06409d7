"""Bessel functions of orders zero and one, and the spherical one of order zero."""

from __future__ import annotations

import math

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _bessel_tables as tables
from op_registry.reference.kernels._numeric import floats, horner, ratio

_SOURCE = "rational approximations of Cephes (Moshier), as torch's own kernels evaluate them"
_ACCURACY = "as eager's, which is off by up to 2e-7 in any dtype: see the tables"
_Table = tuple[tuple[float, ...], tuple[float, ...]]
_ROOTS_0 = (5.78318596294678452118e00, 3.04712623436620863991e01)
_ROOTS_1 = (1.46819706421238932572e01, 4.92184563216946036703e01)
"""Squares of the first two positive roots of J0 and of J1."""
_NEAR = 5


@kernel("aten.special_bessel_j0.default", source=_SOURCE, accuracy=_ACCURACY)
def bessel_j0(self: torch.Tensor) -> torch.Tensor:
    """Return J0, the Bessel function of the first kind and order 0, of each element."""
    return floats(lambda x: _j0(x.abs()), self)


@kernel("aten.special_bessel_j1.default", source=_SOURCE, accuracy=_ACCURACY)
def bessel_j1(self: torch.Tensor) -> torch.Tensor:
    """Return J1, the Bessel function of the first kind and order 1, of each element."""
    return floats(lambda x: torch.where(x < 0, -_j1(x.abs()), _j1(x.abs())), self)


@kernel("aten.special_bessel_y0.default", source=_SOURCE, accuracy=_ACCURACY)
def bessel_y0(self: torch.Tensor) -> torch.Tensor:
    """Return Y0, the Bessel function of the second kind and order 0, of each element.

    It is minus infinity at zero and NaN for negative numbers.
    """

    def near(x: torch.Tensor) -> torch.Tensor:
        return ratio(x * x, *tables.Y0_SMALL) + 2 / math.pi * x.log() * _j0(x.abs())

    def y0(x: torch.Tensor) -> torch.Tensor:
        far = _waves(x, tables.J0_COSINE, tables.J0_SINE, 0.25, second=True)
        return _from_zero(x, torch.where(x <= _NEAR, near(x), far))

    return floats(y0, self)


@kernel("aten.special_bessel_y1.default", source=_SOURCE, accuracy=_ACCURACY)
def bessel_y1(self: torch.Tensor) -> torch.Tensor:
    """Return Y1, the Bessel function of the second kind and order 1, of each element.

    It is minus infinity at zero and NaN for negative numbers.
    """

    def near(x: torch.Tensor) -> torch.Tensor:
        logarithm = _j1(x.abs()) * x.log() - 1 / x
        return x * ratio(x * x, *tables.Y1_SMALL) + 2 / math.pi * logarithm

    def y1(x: torch.Tensor) -> torch.Tensor:
        far = _waves(x, tables.J1_COSINE, tables.J1_SINE, 0.75, second=True)
        return _from_zero(x, torch.where(x <= _NEAR, near(x), far))

    return floats(y1, self)


@kernel(
    "aten.special_spherical_bessel_j0.default",
    source="sin(x) / x, near zero its power series",
    accuracy="a few units in the last place",
)
def spherical_bessel_j0(x: torch.Tensor) -> torch.Tensor:
    """Return ``sin(x) / x`` for each element, 1 at zero and 0 at infinity."""

    def j0(y: torch.Tensor) -> torch.Tensor:
        powers = [(-1) ** k / math.factorial(2 * k + 1) for k in range(6, -1, -1)]
        result = torch.where(y.abs() < 0.5, horner(y * y, powers), y.sin() / y)
        return torch.where(y.isinf(), 0, result)

    return floats(j0, x)


def _j0(x: torch.Tensor) -> torch.Tensor:
    """Return J0 of ``x`` that is not negative."""
    square = x * x
    near = (square - _ROOTS_0[0]) * (square - _ROOTS_0[1]) * ratio(square, *tables.J0_SMALL)
    near = torch.where(x < 1e-5, 1 - square / 4, near)
    far = _waves(x, tables.J0_COSINE, tables.J0_SINE, 0.25, second=False)
    return torch.where(x <= _NEAR, near, far)


def _j1(x: torch.Tensor) -> torch.Tensor:
    """Return J1 of ``x`` that is not negative."""
    square = x * x
    near = ratio(square, *tables.J1_SMALL) * x * (square - _ROOTS_1[0]) * (square - _ROOTS_1[1])
    far = _waves(x, tables.J1_COSINE, tables.J1_SINE, 0.75, second=False)
    return torch.where(x <= _NEAR, near, far)


def _waves(
    x: torch.Tensor, cosine: _Table, sine: _Table, turn: float, *, second: bool
) -> torch.Tensor:
    """Return the damped wave that a Bessel function is far from zero, ``turn`` in half turns.

    That of the second kind lags a quarter of a turn behind that of the first.
    """
    inverse = _NEAR / x
    square = inverse * inverse
    angle = x - turn * math.pi
    first, other = ratio(square, *cosine), inverse * ratio(square, *sine)
    if second:
        wave = first * angle.sin() + other * angle.cos()
    else:
        wave = first * angle.cos() - other * angle.sin()
    return wave * math.sqrt(2 / math.pi) / x.sqrt()


def _from_zero(x: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    return torch.where(x == 0, -math.inf, torch.where(x < 0, math.nan, result))
