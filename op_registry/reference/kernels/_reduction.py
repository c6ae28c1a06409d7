"""The ``reduction`` argument of losses."""

from __future__ import annotations

import torch

NONE, MEAN, SUM = 0, 1, 2
"""The values of ``at::Reduction``."""


def reduced(loss: torch.Tensor, reduction: int) -> torch.Tensor:
    """Return ``loss`` as it is, its mean or its sum."""
    if reduction == MEAN:
        return loss.mean()
    return loss.sum() if reduction == SUM else loss


def share(reduction: int, count: int) -> float:
    """Return what one of ``count`` losses counts in the result."""
    return (1.0 / count if count else float("nan")) if reduction == MEAN else 1.0
