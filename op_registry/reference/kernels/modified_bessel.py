"""Modified Bessel functions of orders zero and one, plain and scaled by an exponential."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _modified_bessel_series as series
from op_registry.reference.kernels._matrices import applied
from op_registry.reference.kernels._numeric import chebyshev, floats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SOURCE = "Chebyshev series of Cephes (Moshier), which torch's own kernels use"
_ACCURACY = "a few units in the last place, relative"
_NO_HALF_GRADIENT = "PyTorch's formula is a kernel of its own, which refuses 16-bit types"
_GROWING = f"{_ACCURACY}, and the rounding of the exponential"


@kernel(
    "aten.i0.default", "aten.special_modified_bessel_i0.default", source=_SOURCE, accuracy=_GROWING
)
def i0(self: torch.Tensor) -> torch.Tensor:
    """Return I0, the modified Bessel function of the first kind and order 0, of each element."""
    return floats(lambda x: _i0e(x.abs()) * x.abs().exp(), self)


@kernel("aten.special_i0e.default", source=_SOURCE, accuracy=_ACCURACY)
def i0e(self: torch.Tensor) -> torch.Tensor:
    """Return ``exp(-|x|) * I0(x)`` for each element."""
    return floats(lambda x: _i0e(x.abs()), self)


@kernel(
    "aten.special_i1.default", source=_SOURCE, accuracy=_GROWING, own_gradient=_NO_HALF_GRADIENT
)
def i1(self: torch.Tensor) -> torch.Tensor:
    """Return I1, the modified Bessel function of the first kind and order 1, of each element."""
    return floats(lambda x: applied(_I1, x), self)


@kernel("aten.special_modified_bessel_i1.default", source=_SOURCE, accuracy=_GROWING)
def modified_bessel_i1(self: torch.Tensor) -> torch.Tensor:
    """Return I1 of each element, without a gradient."""
    return floats(_i1, self)


@kernel(
    "aten.special_i1e.default", source=_SOURCE, accuracy=_ACCURACY, own_gradient=_NO_HALF_GRADIENT
)
def i1e(self: torch.Tensor) -> torch.Tensor:
    """Return ``exp(-|x|) * I1(x)`` for each element."""
    return floats(lambda x: applied(_I1Scaled, x), self)


@kernel("aten.special_modified_bessel_k0.default", source=_SOURCE, accuracy=_ACCURACY)
def modified_bessel_k0(self: torch.Tensor) -> torch.Tensor:
    """Return K0, the modified Bessel function of the second kind and order 0, of each element.

    It is infinite at zero and NaN for negative numbers.
    """
    return floats(lambda x: _second_kind(x, _k0_near, series.K0_LARGE, scaled=False), self)


@kernel("aten.special_scaled_modified_bessel_k0.default", source=_SOURCE, accuracy=_ACCURACY)
def scaled_modified_bessel_k0(x: torch.Tensor) -> torch.Tensor:
    """Return ``exp(x) * K0(x)`` for each element."""
    return floats(lambda y: _second_kind(y, _k0_near, series.K0_LARGE, scaled=True), x)


@kernel("aten.special_modified_bessel_k1.default", source=_SOURCE, accuracy=_ACCURACY)
def modified_bessel_k1(self: torch.Tensor) -> torch.Tensor:
    """Return K1, the modified Bessel function of the second kind and order 1, of each element.

    It is infinite at zero and NaN for negative numbers.
    """
    return floats(lambda x: _second_kind(x, _k1_near, series.K1_LARGE, scaled=False), self)


@kernel("aten.special_scaled_modified_bessel_k1.default", source=_SOURCE, accuracy=_ACCURACY)
def scaled_modified_bessel_k1(x: torch.Tensor) -> torch.Tensor:
    """Return ``exp(x) * K1(x)`` for each element."""
    return floats(lambda y: _second_kind(y, _k1_near, series.K1_LARGE, scaled=True), x)


class _I1(torch.autograd.Function):
    """I1' = I0 - I1 / x, and one half at zero."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        found = _i1(x)
        ctx.save_for_backward(x, found)
        return found

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        x, found = ctx.saved_tensors
        small = x.abs() <= torch.finfo(x.dtype).eps
        slope = i0(x) - found / torch.where(small, 1, x)
        return grads[0] * torch.where(small, 0.5, slope)


class _I1Scaled(torch.autograd.Function):
    """The slope of ``exp(-|x|) * I1(x)``, and one half at zero."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        size = _i1e(x.abs())
        found = torch.where(x < 0, -size, size)
        ctx.save_for_backward(x, found)
        return found

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        x, found = ctx.saved_tensors
        small = x.abs() <= torch.finfo(x.dtype).eps
        slope = i0e(x) - found * (x.sgn() + 1 / torch.where(small, 1, x))
        return grads[0] * torch.where(small, 0.5, slope)


def _i0e(x: torch.Tensor) -> torch.Tensor:
    """Return ``exp(-x) * I0(x)`` of ``x`` that is not negative."""
    near = chebyshev(x / 2 - 2, series.I0_SMALL)
    return torch.where(x <= 8, near, chebyshev(32 / x - 2, series.I0_LARGE) / x.sqrt())


def _i1e(x: torch.Tensor) -> torch.Tensor:
    """Return ``exp(-x) * I1(x)`` of ``x`` that is not negative."""
    near = chebyshev(x / 2 - 2, series.I1_SMALL) * x
    return torch.where(x <= 8, near, chebyshev(32 / x - 2, series.I1_LARGE) / x.sqrt())


def _i1(x: torch.Tensor) -> torch.Tensor:
    grown = _i1e(x.abs()) * x.abs().exp()
    return torch.where(x < 0, -grown, grown)


def _second_kind(
    x: torch.Tensor,
    near: Callable[[torch.Tensor], torch.Tensor],
    far: Sequence[float],
    *,
    scaled: bool,
) -> torch.Tensor:
    """Return what ``near`` gives up to 2 and the series ``far`` beyond."""
    below, beyond = near(x), chebyshev(8 / x - 2, far) / x.sqrt()
    if scaled:
        below = below * x.exp()
    else:
        beyond = beyond * (-x).exp()
    result = torch.where(x <= 2, below, beyond)
    return torch.where(x == 0, math.inf, torch.where(x < 0, math.nan, result))


def _k0_near(x: torch.Tensor) -> torch.Tensor:
    first = _i0e(x.abs()) * x.abs().exp()
    return chebyshev(x * x - 2, series.K0_SMALL) - (x / 2).log() * first


def _k1_near(x: torch.Tensor) -> torch.Tensor:
    return (x / 2).log() * _i1(x) + chebyshev(x * x - 2, series.K1_SMALL) / x
