"""``binomial``: successes, by inversion where few are expected and by rejection where many are."""

from __future__ import annotations

import math
from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _noise

_FEW = 10.0
_MOST = 48
"""Counts that inversion looks at: of 10 expected more come once in 10**16."""
PROPOSALS = 16
"""Each is accepted with probability 0.7 at least: all are rejected once in 2 * 10**8."""


@kernel(
    "aten.binomial.default",
    source="fewer than 10 expected: sequential search; else Hoermann, BTRS (1993)",
    accuracy=f"{_noise.ACCURACY}; of {PROPOSALS} proposals none is accepted once in 2e8 numbers, "
    "which then are the mean rounded; f32 cuts tails below 1e-7",
    noise=True,
)
def binomial(
    count: torch.Tensor,
    prob: torch.Tensor,
    generator: Any = None,
    *,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return how many of ``count`` trials of probability ``prob`` succeed, in their dtype.

    The two are broadcast. ``noise`` is uniform in [0, 1), (2, 16, *shape of the result). Failures
    are counted where they are rarer. Both ways are computed for every element, with a fixed number
    of steps.
    """
    if not count.is_floating_point() or count.dtype != prob.dtype:
        raise RuntimeError(
            f"binomial: expected count and prob of one floating-point dtype, got {count.dtype} and "
            f"{prob.dtype}"
        )
    trials, p = (x.to(_noise.wide(x.dtype)) for x in torch.broadcast_tensors(count, prob))
    drawn = _noise.uniform(trials, noise, generator, (2, PROPOSALS))
    rare = torch.minimum(p, 1 - p)
    few = trials * rare < _FEW
    found = torch.where(
        few, _by_inversion(trials, rare, drawn[0, 0]), _by_rejection(trials, rare, drawn)
    )
    found = torch.where(p > 0.5, trials - found, found)
    found = torch.where((trials <= 0) | (p <= 0), 0.0, torch.where(p >= 1, trials, found))
    return torch.where(p.isnan(), math.nan, found).to(count.dtype)


def _by_inversion(trials: torch.Tensor, p: torch.Tensor, level: torch.Tensor) -> torch.Tensor:
    probability = (trials * torch.log1p(-p)).exp()
    odds = p / (1 - p)
    below, found = probability, torch.zeros_like(probability)
    for number in range(1, _MOST):
        found = found + (level >= below)
        probability = probability * odds * (trials - number + 1).clamp(min=0) / number
        below = below + probability
    return torch.minimum(found, trials)


def _by_rejection(trials: torch.Tensor, p: torch.Tensor, drawn: torch.Tensor) -> torch.Tensor:
    trials = torch.maximum(trials, 2 * torch.full_like(trials, _FEW))
    p = torch.maximum(p, _FEW / trials).clamp(max=0.5)
    deviation = (trials * p * (1 - p)).sqrt()
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    alpha = (2.83 + 5.1 / b) * deviation
    mode = ((trials + 1) * p).floor()
    u, v = drawn[0] - 0.5, drawn[1]
    rim = 0.5 - u.abs()
    found = ((2 * a / rim + b) * u + trials * p + 0.5).floor()
    possible = (found >= 0) & (found <= trials)
    inside = (rim >= 0.07) & (v <= 0.92 - 4.2 / b)
    height = (v * alpha / (a / (rim * rim) + b)).log()
    k = found.clamp(min=0).minimum(trials)
    accepted = possible & (inside | (height <= _log_ratio(k, mode, trials, p)))
    return _noise.first_accepted(found, accepted, (trials * p).round())


def _log_ratio(
    k: torch.Tensor, mode: torch.Tensor, trials: torch.Tensor, p: torch.Tensor
) -> torch.Tensor:
    """Return log of how much rarer ``k`` is than ``mode``, by Stirling's series."""
    odds = p / (1 - p)
    rest, mode_rest = trials - k + 1, trials - mode + 1
    return (
        (mode + 0.5) * ((mode + 1) / (odds * mode_rest)).log()
        + (trials + 1) * (mode_rest / rest).log()
        + (k + 0.5) * (odds * rest / (k + 1)).log()
        + (_tail(mode) + _tail(trials - mode) - _tail(k) - _tail(trials - k))
    )


def _tail(k: torch.Tensor) -> torch.Tensor:
    """Return what Stirling's formula for log k! lacks; within 3e-4 at 0, far less beyond."""
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
