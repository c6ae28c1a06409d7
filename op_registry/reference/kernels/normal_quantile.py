"""``special_ndtri``: quantiles of the normal distribution."""

from __future__ import annotations

import math

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import floats, ratio

_MIDDLE = (
    (
        *(-59.96335010141079, 98.00107541859997, -56.67628574690703),
        *(13.931260938727968, -1.2391658386738125),
    ),
    (
        *(1.0, 1.9544885833814176, 4.676279128988815),
        *(86.36024213908905, -225.46268785411937, 200.26021238006066),
        *(-82.03722561683334, 15.90562251262117, -1.1833162112133),
    ),
)
"""Around one half, in the squared distance from it."""
_TAIL = (
    (
        *(4.0554489230596245, 31.525109459989388, 57.16281922464213),
        *(44.08050738932008, 14.684956192885803, 2.1866330685079025),
        *(-0.1402560791713545, -0.03504246268278482, -0.0008574567851546854),
    ),
    (
        *(1.0, 15.779988325646675, 45.39076351288792),
        *(41.3172038254672, 15.04253856929075, 2.504649462083094),
        *(-0.14218292285478779, -0.03808064076915783, -0.0009332594808954574),
    ),
)
"""For sqrt(-2 log y) up to 8, in its inverse."""
_FAR_TAIL = (
    (
        *(3.2377489177694603, 6.915228890689842, 3.9388102529247444),
        *(1.3330346081580755, 0.20148538954917908, 0.012371663481782003),
        *(0.00030158155350823543, 2.6580697468673755e-06, 6.239745391849833e-09),
    ),
    (
        *(1.0, 6.02427039364742, 3.6798356385616087),
        *(1.3770209948908132, 0.21623699359449663, 0.013420400608854318),
        *(0.00032801446468212774, 2.8924786474538068e-06, 6.790194080099813e-09),
    ),
)
"""Beyond."""
_EDGE = math.exp(-2)


@kernel(
    "aten.special_ndtri.default",
    source="rational approximations of Cephes (Moshier), which torch's own kernel uses",
    accuracy="a few units in the last place",
)
def ndtri(self: torch.Tensor) -> torch.Tensor:
    """Return below which number a standard normal one falls with each probability.

    Infinite at 0 and 1, NaN outside of them.
    """
    return floats(_quantile, self)


def _quantile(p: torch.Tensor) -> torch.Tensor:
    upper = p > 1 - _EDGE
    tail = torch.where(upper, 1 - p, p)
    far = _far(tail)
    centre = tail - 0.5
    square = centre * centre
    near = (centre + centre * square * ratio(square, *_MIDDLE)) * math.sqrt(2 * math.pi)
    result = torch.where(tail > _EDGE, near, torch.where(upper, far, -far))
    result = torch.where(p == 0, -math.inf, torch.where(p == 1, math.inf, result))
    return torch.where((p < 0) | (p > 1), math.nan, result)


def _far(tail: torch.Tensor) -> torch.Tensor:
    """Return how far from zero the tail of probability ``tail`` begins."""
    x = (-2 * tail.log()).sqrt()
    inverse = 1 / x
    rest = torch.where(x < 8, ratio(inverse, *_TAIL), ratio(inverse, *_FAR_TAIL))
    return x - x.log() / x - inverse * rest
