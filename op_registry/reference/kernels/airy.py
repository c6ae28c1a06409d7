"""The Airy function ``special_airy_ai``."""

from __future__ import annotations

import math

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import floats, horner, ratio

_DECAY = (
    (
        *(0.346538101525629, 12.007595273964581, 76.27960536152345),
        *(168.08922493463058, 159.75639135016442, 70.53609068404442),
        *(14.026469116338967, 1.0),
    ),
    (
        *(0.5675945326387702, 14.75625625848472, 84.51389701414746),
        *(177.31808814540045, 164.2346928715297, 71.47784008255756),
        *(14.095913560783403, 1.0),
    ),
)
"""Of Ai from 2.09 on without its exponential decay, in 1 / zeta."""
_SINE = (
    (
        *(-0.1316963234183318, -0.6264565444319123, -0.6931580360369335),
        *(-0.2797799815451191, -0.04919001326095003, -0.004062659235948854),
        *(-0.0001592764962392621, -2.776491081552329e-06, -1.6778769848911465e-08),
    ),
    (
        *(13.356042070655324, 32.682503279522464, 26.736704094149957),
        *(9.187074029072596, 1.4752914677166642, 0.11568717379518804),
        *(0.004402916416152112, 7.547203482874142e-05, 4.5185009297058035e-07),
    ),
)
"""Of what swings with the sine below -2.09, in 1 / zeta squared."""
_COSINE = (
    (
        *(0.01973399320916857, 0.39110302961568827, 1.0657989759959559),
        *(0.9391692298166502, 0.35146565610554764, 0.06338889196289255),
        *(0.005858041130483885, 0.000282851600836737, 6.98793669997261e-06),
        *(8.117892395543892e-08, 3.415517847659236e-10),
    ),
    (
        *(9.30892908077442, 19.835292871831214, 15.564662893286462),
        *(5.476860694229755, 0.9542936116189619, 0.08645808263523921),
        *(0.004126565238242226, 0.00010125908511650914, 1.1716673321441352e-06),
        4.9183457006293e-09,
    ),
)
"""Of what swings with the cosine."""
_AT_ZERO, _SLOPE_AT_ZERO = 0.355028053887817239260, 0.258819403792806798405
_NEAR = 2.09
_ZERO_FROM = 103.892
_TERMS = 14
"""Of the power series: enough for float64 on all of its range."""


@kernel(
    "aten.special_airy_ai.default",
    source="power series and rational approximations of Cephes (Moshier), as torch has them",
    accuracy="as eager's, whose tables lack the leading ones of two denominators: below -2.09 off "
    "by up to 3e-6 in any dtype",
)
def airy_ai(x: torch.Tensor) -> torch.Tensor:
    """Return the Airy function Ai of each element; like eager NaN at both infinities."""
    return floats(_airy, x)


def _airy(x: torch.Tensor) -> torch.Tensor:
    result = torch.where(x >= _NEAR, _decaying(x), _series(x))
    result = torch.where(x < -_NEAR, _swinging(x), result)
    result = torch.where(x > _ZERO_FROM, 0, result)
    return torch.where(x.isinf(), math.nan, result)


def _series(x: torch.Tensor) -> torch.Tensor:
    """Return Ai near zero: two power series in the cube of ``x``."""
    even, odd = [1.0], [1.0]
    for k in range(1, _TERMS):
        even.append(even[-1] / (3 * k - 1) / (3 * k))
        odd.append(odd[-1] / (3 * k) / (3 * k + 1))
    cube = x * x * x
    value = _AT_ZERO * horner(cube, even[::-1])
    return value - _SLOPE_AT_ZERO * x * horner(cube, odd[::-1])


def _decaying(x: torch.Tensor) -> torch.Tensor:
    root = x.sqrt()
    zeta = 2 * x * root / 3
    return ratio(1 / zeta, *_DECAY) / (2 * math.sqrt(math.pi) * root.sqrt() * zeta.exp())


def _swinging(x: torch.Tensor) -> torch.Tensor:
    root = (-x).sqrt()
    zeta = -2 * x * root / 3
    inverse, angle = 1 / zeta, zeta + math.pi / 4
    square = inverse * inverse
    sine = angle.sin() * (1 + square * ratio(square, *_SINE))
    cosine = angle.cos() * (inverse * ratio(square, *_COSINE))
    return (sine - cosine) / math.sqrt(math.pi) / root.sqrt()
