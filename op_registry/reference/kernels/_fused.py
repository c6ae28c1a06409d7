"""What fused attention does besides: shares heads, fills up rows, notes a generator's state."""

from __future__ import annotations

import math

import torch

_ALIGNED = 32
"""CUDA's memory-efficient kernel fills up the rows of the log-sum-exp to a multiple of this."""


def repeated(query: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Give every head of ``query`` (B, H, L, E) a head of ``other``, which may have fewer."""
    times = query.shape[1] // other.shape[1]
    return other.unsqueeze(2).expand(-1, -1, times, -1, -1).flatten(1, 2) if times > 1 else other


def gathered(gradient: torch.Tensor, heads: int) -> torch.Tensor:
    """Add up the gradients (B, H, L, E) of heads that were one head of ``heads``."""
    times = gradient.shape[1] // heads
    if times == 1:
        return gradient
    groups: torch.Tensor = gradient.unflatten(1, (-1, times))
    return groups.sum(2, dtype=gradient.dtype)


def filled(logsumexp: torch.Tensor, longest: int) -> torch.Tensor:
    """Return rows (..., L) filled up with infinity to where those of ``longest`` tokens end."""
    wanted = filled_length(longest)
    return torch.nn.functional.pad(logsumexp, (0, wanted - logsumexp.shape[-1]), value=math.inf)


def filled_length(longest: int) -> int:
    """Return how long a row of ``longest`` tokens is after filling up."""
    return -(-longest // _ALIGNED) * _ALIGNED


def state(query: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return seed and offset of the random generator, which nothing draws from: int64."""
    zeros = torch.zeros((), dtype=torch.int64, device=query.device)
    return zeros, torch.zeros_like(zeros)


def flash_state(query: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return what only dropout and its debugging need: seed, offset and an empty mask."""
    seed = torch.zeros(2, dtype=torch.uint64, device=query.device)
    offset = torch.zeros((), dtype=torch.uint64, device=query.device)
    return seed, offset, query.new_zeros(0)
