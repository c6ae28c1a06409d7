"""``igamma`` and ``igammac``: the regularised incomplete gamma functions."""

from __future__ import annotations

import math

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import floats, horner
from op_registry.reference.kernels._temme_series import ROWS
from op_registry.reference.kernels.erfc import erfc

_SOURCE = (
    "power series, continued fraction and Temme's expansion, divided among them as SciPy and torch "
    "do, with as many terms as the dtype can tell apart"
)
_ACCURACY = "absolute: about the rounding of log gamma"
_LARGE, _NEAR = 20, 0.3
"""Temme's expansion holds from this first argument on, for seconds this near to it, relatively."""
_SINGLE = {"series": 50, "small": 16, "fraction": 40, "logarithm": 16, "rows": 8}
_DOUBLE = {"series": 120, "small": 26, "fraction": 120, "logarithm": 32, "rows": len(ROWS)}
"""How many terms of each are taken."""
_Pair = tuple[torch.Tensor, torch.Tensor]


@kernel("aten.igamma.default", source=_SOURCE, accuracy=_ACCURACY)
def igamma(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return the part of the gamma integral of ``self`` that lies below ``other``.

    Both must not be negative nor both zero or infinite: NaN then.
    """
    return floats(lambda a, x: _at_the_ends(a, x, _parts(a, x)[0], 1.0), self, other)


@kernel("aten.igammac.default", source=_SOURCE, accuracy=_ACCURACY)
def igammac(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return the part of the gamma integral of ``self`` that lies above ``other``.

    Both must not be negative nor both zero or infinite: NaN then.
    """
    return floats(lambda a, x: _at_the_ends(a, x, _parts(a, x)[1], 0.0), self, other)


def _at_the_ends(
    a: torch.Tensor, x: torch.Tensor, inside: torch.Tensor, far: float
) -> torch.Tensor:
    """Return ``inside``, ``far`` where x is much larger than a, and 1 - ``far`` for the reverse."""
    result = torch.where(x.isinf(), far, inside)
    result = torch.where(a.isinf(), torch.where(x.isinf(), math.nan, 1 - far), result)
    result = torch.where(x == 0, 1 - far, result)
    result = torch.where(a == 0, torch.where(x > 0, far, math.nan), result)
    return torch.where((a < 0) | (x < 0), math.nan, result)


def _parts(a: torch.Tensor, x: torch.Tensor) -> _Pair:
    """Return the lower and the upper part for positive numbers."""
    terms = _DOUBLE if a.dtype is torch.float64 else _SINGLE
    lower = _series(a, x, terms["series"])
    fraction = _fraction(a, x, terms["fraction"])
    small = _small(a, x, terms["small"])
    few = torch.where(x <= 0.5, -0.4 / x.log() < a, x * 1.1 < a)
    upper = torch.where(
        x > 1.1, torch.where(x < a, 1 - lower, fraction), torch.where(few, 1 - lower, small)
    )
    lower = torch.where((x > 1) & (x > a), 1 - upper, lower)
    near = (a > _LARGE) & ((x - a).abs() < _NEAR * a)
    below, above = _expanded(a, x, terms)
    return torch.where(near, below, lower), torch.where(near, above, upper)


def _series(a: torch.Tensor, x: torch.Tensor, count: int) -> torch.Tensor:
    """Return the lower part by its power series (DLMF 8.11.4)."""
    term = torch.ones_like(a + x)
    total = term
    for k in range(1, count + 1):
        term = term * (x / (a + k))
        total = total + term
    return (a * x.log() - x - (a + 1).lgamma()).exp() * total


def _small(a: torch.Tensor, x: torch.Tensor, count: int) -> torch.Tensor:
    """Return the upper part for small numbers, by an alternating series (DLMF 8.7.3)."""
    factor, total = torch.ones_like(a + x), torch.zeros_like(a + x)
    for k in range(1, count + 1):
        factor = factor * (-x / k)
        total = total + factor / (a + k)
    power = a * x.log()
    return -(power - (a + 1).lgamma()).expm1() - (power - a.lgamma()).exp() * total


def _fraction(a: torch.Tensor, x: torch.Tensor, count: int) -> torch.Tensor:
    """Return the upper part by its continued fraction (DLMF 8.9.2), from its end."""
    tail = torch.zeros_like(a + x)
    for k in range(count, 0, -1):
        tail = k * (k - a) / (x - a + (2 * k + 1) - tail)
    return (a * x.log() - x - a.lgamma()).exp() / (x - a + 1 - tail)


def _expanded(a: torch.Tensor, x: torch.Tensor, terms: dict[str, int]) -> _Pair:
    """Return both parts where the two numbers are large and near (DLMF 8.12.3 and 8.12.4)."""
    apart = ((x - a) / a).clamp(-_NEAR, _NEAR)
    # apart - log1p(apart), divided by the square of apart.
    powers = [(-1) ** k / (k + 2) for k in range(terms["logarithm"])]
    eta = apart * (2 * horner(apart, powers[::-1])).sqrt()
    rows = [horner(eta, row[::-1]) for row in ROWS[: terms["rows"]]]
    total = rows[-1]
    for row in rows[-2::-1]:
        total = total / a + row
    middle = (-0.5 * a * eta * eta).exp() * total / (2 * math.pi * a).sqrt()
    end = eta * (a / 2).sqrt()
    return erfc(-end) / 2 - middle, erfc(end) / 2 + middle
