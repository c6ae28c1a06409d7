"""The complementary error function: ``erfc``, ``special_erfcx``, ``special_log_ndtr``."""

from __future__ import annotations

import math

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import floats, ratio

_SOURCE = "rational Chebyshev approximations (Cody 1969, netlib's calerf)"
_ACCURACY = "a few units in the last place, relative, also where the result is tiny"
# Each approximation as numerator and denominator, the highest power first.
_SMALL = (
    (
        *(1.85777706184603153e-1, 3.16112374387056560e00, 1.13864154151050156e02),
        *(3.77485237685302021e02, 3.20937758913846947e03),
    ),
    (
        *(1.0, 2.36012909523441209e01, 2.44024637934444173e02, 1.28261652607737228e03),
        2.84423683343917062e03,
    ),
)
"""Of erf(x) / x, in x squared, for x up to 0.46875."""
_MIDDLE = (
    (
        *(2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e00),
        *(6.61191906371416295e01, 2.98635138197400131e02, 8.81952221241769090e02),
        *(1.71204761263407058e03, 2.05107837782607147e03, 1.23033935479799725e03),
    ),
    (
        *(1.0, 1.57449261107098347e01, 1.17693950891312499e02, 5.37181101862009858e02),
        *(1.62138957456669019e03, 3.29079923573345963e03, 4.36261909014324716e03),
        *(3.43936767414372164e03, 1.23033935480374942e03),
    ),
)
"""Of erfcx(x), for x up to 4."""
_LARGE = (
    (
        *(1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1),
        *(1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    ),
    (
        *(1.0, 2.56852019228982242e00, 1.87295284992346725e00, 5.27905102951428412e-1),
        *(6.05183413124413191e-2, 2.33520497626869185e-3),
    ),
)
"""Of what is left of x * erfcx(x) and x squared after the leading term, in 1 / x squared."""
_SMALL_END, _MIDDLE_END = 0.46875, 4.0


@kernel("aten.erfc.default", source=_SOURCE, accuracy=_ACCURACY)
def erfc(self: torch.Tensor) -> torch.Tensor:
    """Return one minus the error function of each element."""

    def complement(x: torch.Tensor) -> torch.Tensor:
        size = x.abs()
        tail = _gaussian(size) * _scaled_tail(size)
        tail = torch.where(x < 0, 2 - tail, tail)
        return torch.where(size <= _SMALL_END, 1 - x * ratio(x * x, *_SMALL), tail)

    return floats(complement, self)


@kernel("aten.special_erfcx.default", source=_SOURCE, accuracy=_ACCURACY)
def erfcx(self: torch.Tensor) -> torch.Tensor:
    """Return ``exp(x * x) * erfc(x)`` for each element."""
    return floats(_erfcx, self)


@kernel("aten.special_log_ndtr.default", source=f"erfcx by {_SOURCE}", accuracy=_ACCURACY)
def log_ndtr(self: torch.Tensor) -> torch.Tensor:
    """Return the logarithm of the area under the standard normal density below each element."""

    def log_area(x: torch.Tensor) -> torch.Tensor:
        below = x * math.sqrt(0.5)
        low = (_erfcx(-below.clamp(max=0)) / 2).log() - below * below
        return torch.where(x < -1, low, (-erfc(below) / 2).log1p())

    return floats(log_area, self)


def _erfcx(x: torch.Tensor) -> torch.Tensor:
    size = x.abs()
    tail = _scaled_tail(size)
    tail = torch.where(x < 0, 2 / _gaussian(size) - tail, tail)
    near = (x * x).exp() * (1 - x * ratio(x * x, *_SMALL))
    return torch.where(size <= _SMALL_END, near, tail)


def _scaled_tail(x: torch.Tensor) -> torch.Tensor:
    """Return erfcx of ``x``, which is more than about 0.4."""
    middle = ratio(x.clamp(max=_MIDDLE_END), *_MIDDLE)
    large = x.clamp(min=_MIDDLE_END)
    inverse = 1 / (large * large)
    rest = inverse * ratio(inverse, *_LARGE)
    return torch.where(x <= _MIDDLE_END, middle, (1 / math.sqrt(math.pi) - rest) / large)


def _gaussian(x: torch.Tensor) -> torch.Tensor:
    """Return ``exp(-x * x)`` without the rounding error of the square."""
    coarse = (x * 16).trunc() / 16
    rest = (x - coarse) * (x + coarse)
    return (-coarse * coarse).exp() * (-torch.where(x.isinf(), 0, rest)).exp()
