"""Random ops: results that follow the same distribution as eager PyTorch's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable

    from op_registry.build.samples.sample import Sample

_DRAWS = 4000
"""Numbers drawn of each, at least."""
_MOST_CALLS = 400
_APART = 2.7
"""Kolmogorov-Smirnov distance in its own unit, sqrt(2/n): chance exceeds it once in a million."""


def draws_differ(eager: Any, sample: Sample) -> bool:
    """Tell whether ``eager`` gives another result for another seed."""
    first, second = (_drawn(eager, sample, seed) for seed in (0, 1))
    return any(not torch.equal(a, b) for a, b in zip(first, second, strict=True))


def random_difference(ours: Callable[..., Any], eager: Any, sample: Sample) -> str:
    """Return in words how the distribution of ``ours`` differs from eager's; empty if it does not.

    Dtypes and shapes are compared, and for each output the distribution over all of its elements
    and many calls.
    """
    mine, theirs = _drawn(ours, sample, 0), _drawn(eager, sample, 0)
    for place, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            return f"output {place}: {a.dtype} {list(a.shape)}, eager {b.dtype} {list(b.shape)}"
    calls = min(_MOST_CALLS, 1 + _DRAWS // max(1, *(b.numel() for b in theirs), 1))
    many = [_many(one, sample, calls) for one in (ours, eager)]
    for place, (a, b) in enumerate(zip(*many, strict=True)):
        limit = _APART * (2 / max(1, b.numel())) ** 0.5
        if b.numel() and (apart := _distance(a, b)) > limit:
            return f"output {place}: distributions are {apart:.3f} apart, {limit:.3f} is chance"
    return ""


def _many(function: Callable[..., Any], sample: Sample, calls: int) -> list[torch.Tensor]:
    drawn = [_drawn(function, sample, 10 + seed) for seed in range(calls)]
    return [torch.cat([one[k].double().flatten() for one in drawn]) for k in range(len(drawn[0]))]


def _drawn(function: Callable[..., Any], sample: Sample, seed: int) -> list[torch.Tensor]:
    copied = sample.copied()
    torch.manual_seed(seed)
    with torch.no_grad():
        result = function(*copied.args, **copied.kwargs)
    leaves = pytree.tree_leaves((result, copied.args, copied.kwargs))
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def _distance(a: torch.Tensor, b: torch.Tensor) -> float:
    points = torch.cat([a, b]).sort().values
    sides = [
        torch.searchsorted(one.sort().values, points, right=True) / one.numel() for one in (a, b)
    ]
    return float((sides[0] - sides[1]).abs().max())
