"""``special_zeta``: the Hurwitz zeta function."""

from __future__ import annotations

import math
from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import floats

_TERMS = 10
"""Summed one by one before the Euler-Maclaurin formula takes over."""
_BERNOULLI = (
    *(12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10),
    *(-2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15),
    *(1.8152105401943546773e17, -7.1661652561756670113e18),
)
"""(2k)! divided by the Bernoulli number B[2k], from k = 1 on."""


@kernel(
    "aten.special_zeta.default",
    "aten.special_zeta.self_scalar",
    "aten.special_zeta.other_scalar",
    source="Euler-Maclaurin summation (Cephes), and its reflection for negative arguments",
    accuracy="rounding of ten powers; eager adds float32 up in float64",
    nonfinite="eager divides zero by infinity where an infinite power makes the sum zero",
)
def zeta(self: Any, other: Any) -> torch.Tensor:
    """Return the sum of ``(other + k) ** -self`` over k from 0 on, for each pair of elements.

    Infinite where ``self`` is 1 or ``other`` an integer up to 0; NaN for ``self`` below 1, and for
    negative ``other`` unless ``self`` is an integer.
    """
    return floats(_zeta, self, other)


def _zeta(s: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    # The terms at negative places are the difference of two sums over positive ones.
    inside = q - q.floor()
    sign = 1 - 2 * s.remainder(2)
    mirrored = _sum(s, 1 - inside) - _sum(s, 1 - q.clamp(max=0))
    result = _sum(s, torch.where(q > 0, q, inside))
    result = torch.where(q > 0, result, result + sign * mirrored)
    at_pole = (q <= 0) & (q == q.floor())
    result = torch.where((q < 0) & (s != s.floor()), math.nan, result)
    result = torch.where(at_pole, math.inf, result)
    return torch.where(s == 1, math.inf, torch.where(s < 1, math.nan, result))


def _sum(s: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """Return the sum for ``q`` above 0."""
    total, term = torch.zeros_like(s + q), torch.zeros_like(s + q)
    for k in range(_TERMS):
        term = (q + k) ** -s
        total = total + term
    place = q + (_TERMS - 1)
    rest = term * place / (s - 1) - term / 2
    factor = term / place
    for k, divisor in enumerate(_BERNOULLI):
        factor = factor * (s + 2 * k)
        rest = rest + factor / divisor
        factor = factor * (s + 2 * k + 1) / (place * place)
    # Where the terms die out at once nothing is left, and the formula would not converge.
    return torch.where(term > torch.finfo(s.dtype).eps / 2 * total, total + rest, total)
