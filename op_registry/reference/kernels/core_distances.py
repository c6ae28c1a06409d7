"""Distances between rows."""

from __future__ import annotations

import math

import torch

from op_registry.reference.declare import kernel

_SOURCE = "definition"
_NAN = "the slope of a distance that is no number is not defined"
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


@kernel(
    "aten._cdist_backward.default",
    source="derivative; 0 where rows are equal",
    accuracy=_ACCURACY,
    samples=("cdist",),
    nonfinite=_NAN,
)
def cdist_backward(
    grad: torch.Tensor, x1: torch.Tensor, x2: torch.Tensor, p: float, cdist: torch.Tensor
) -> torch.Tensor:
    """Return the gradient of ``x1`` (*, n, d) for that of the distances ``cdist`` (*, n, m)."""
    if not grad.numel():
        return torch.zeros_like(x1)
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    found: torch.Tensor = _slopes(difference, cdist, p) * grad.unsqueeze(-1)
    return found.sum(-2)


@kernel(
    "aten._pdist_backward.default",
    source="derivative; 0 where rows are equal",
    accuracy=_ACCURACY,
    samples=("nn.functional.pdist",),
    nonfinite=_NAN,
)
def pdist_backward(
    grad: torch.Tensor, self: torch.Tensor, p: float, pdist: torch.Tensor
) -> torch.Tensor:
    """Return the gradient of ``self`` (n, d) for that of its n (n - 1) / 2 distances ``pdist``."""
    rows = self.unbind(0)
    gradients = [torch.zeros_like(row) for row in rows]
    pairs = [(i, j) for i in range(len(rows)) for j in range(i + 1, len(rows))]
    for place, (i, j) in enumerate(pairs):  # each pair of rows has its distance
        slope = _slopes(rows[i] - rows[j], pdist[place], p) * grad[place]
        gradients[i], gradients[j] = gradients[i] + slope, gradients[j] - slope
    return torch.stack(gradients) if gradients else torch.zeros_like(self)


def _slopes(difference: torch.Tensor, distance: torch.Tensor, p: float) -> torch.Tensor:
    """Return the gradient of each distance by each difference of two elements."""
    distance = distance.unsqueeze(-1)
    size, sign = difference.abs(), difference.sign()
    zero = torch.zeros_like(difference)
    if p == 0:
        return zero
    if p == 1:
        return sign
    if math.isinf(p):
        return torch.where(size == distance, sign, zero)
    apart = distance != 0
    if p < 2:
        apart = apart & (size != 0)
    safe = torch.where(apart, size / torch.where(distance != 0, distance, 1), 1)
    return torch.where(apart, sign * safe.pow(p - 1), zero)
