"""``poisson``: counts, by inversion where few are expected and by rejection where many are."""

from __future__ import annotations

import math
from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _noise

_FEW = 10.0
_MOST = 48
"""Counts that inversion looks at: of rate 10 more come once in 10**16."""
PROPOSALS = 16
"""Each is accepted with probability 0.75 at least: all are rejected once in 4 * 10**9."""


@kernel(
    "aten.poisson.default",
    source="rates below 10: sequential search; else Hoermann, PTRS (1993)",
    accuracy=f"{_noise.ACCURACY}; of {PROPOSALS} proposals none is accepted once in 4e9 numbers, "
    "which then are the rate rounded; f32 cuts tails below 1e-7",
    noise=True,
)
def poisson(
    self: torch.Tensor,
    generator: Any = None,
    *,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return a count of each rate in ``self``, in its shape and dtype; NaN for a negative rate.

    ``noise`` is uniform in [0, 1), (2, 16, *shape of ``self``). Both ways are computed for every
    element, with a fixed number of steps.
    """
    if not self.is_floating_point():
        raise RuntimeError(f"poisson: not implemented for {self.dtype}")
    rate = self.to(_noise.wide(self.dtype))
    drawn = _noise.uniform(rate, noise, generator, (2, PROPOSALS))
    count = torch.where(rate < _FEW, _by_inversion(rate, drawn[0, 0]), _by_rejection(rate, drawn))
    return torch.where(rate >= 0, count, math.nan).to(self.dtype)


def _by_inversion(rate: torch.Tensor, level: torch.Tensor) -> torch.Tensor:
    rate = rate.clamp(0, _FEW)
    probability = (-rate).exp()
    below, count = probability, torch.zeros_like(rate)
    for number in range(1, _MOST):
        count = count + (level >= below)
        probability = probability * rate / number
        below = below + probability
    return count


def _by_rejection(rate: torch.Tensor, drawn: torch.Tensor) -> torch.Tensor:
    rate = rate.clamp(min=_FEW)
    b = 0.931 + 2.53 * rate.sqrt()
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    u, v = drawn[0] - 0.5, drawn[1]
    rim = 0.5 - u.abs()
    count = ((2 * a / rim + b) * u + rate + 0.43).floor()
    inside = (rim >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
    height = (v * inverse_alpha / (a / (rim * rim) + b)).log()
    accepted = inside | ((rim >= 0.013) | (v <= rim)) & (height <= _log_probability(count, rate))
    return _noise.first_accepted(count, accepted & (count >= 0), rate.round())


def _log_probability(count: torch.Tensor, rate: torch.Tensor) -> torch.Tensor:
    """Return log of rate**count exp(-rate) / count!, by Stirling's series where it cancels less."""
    k = count.clamp(min=1)
    series = (1 / 12 - 1 / (360 * k * k)) / k
    large = k * torch.log1p((rate - k) / k) + (k - rate) - 0.5 * (2 * math.pi * k).log() - series
    return torch.where(count < 1, -rate, large)
