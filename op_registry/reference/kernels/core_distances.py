"""Distances between rows."""

from __future__ import annotations

import math

import torch

from op_registry.reference.declare import kernel

_SOURCE = "definition"
_ACCURACY = "eager takes Euclidean distances of many rows from a matrix product, which rounds more"


@kernel("aten._cdist_forward.default", source=_SOURCE, accuracy=_ACCURACY, samples=("cdist",))
def cdist_forward(
    x1: torch.Tensor, x2: torch.Tensor, p: float, compute_mode: int | None
) -> torch.Tensor:
    """Return the p-norm distances (*, n, m) of the rows of (*, n, d) to those of (*, m, d)."""
    del compute_mode  # how eager computes it
    return _norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


@kernel(
    "aten._pdist_forward.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    samples=("nn.functional.pdist",),
)
def pdist_forward(self: torch.Tensor, p: float = 2.0) -> torch.Tensor:
    """Return the p-norm distances of each pair of rows of ``self`` (n, d): n (n - 1) / 2."""
    count = self.shape[0]
    first = [row for row in range(count) for _ in range(row + 1, count)]
    second = [other for row in range(count) for other in range(row + 1, count)]
    pairs = [
        torch.stack([self[row] for row in rows]) if rows else self[:0] for rows in (first, second)
    ]
    return _norm(pairs[0] - pairs[1], p)


def _norm(difference: torch.Tensor, p: float) -> torch.Tensor:
    size = difference.abs()
    if p == 0:
        return torch.where(size.isnan(), size, (size != 0).to(size.dtype)).sum(-1)
    if math.isinf(p):
        return size.amax(-1) if size.shape[-1] else size.sum(-1)
    if p == 1:
        return size.sum(-1)
    if p == 2:
        return (size * size).sum(-1).sqrt()
    return size.pow(p).sum(-1).pow(1 / p)
