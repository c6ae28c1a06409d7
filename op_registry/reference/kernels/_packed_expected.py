"""Attention of whole sequences, one after the other: what packed attention is compared with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from op_registry.reference.kernels import _attention as attention

if TYPE_CHECKING:
    from collections.abc import Sequence

    from op_registry.reference.kernels._segments import Ends

Triple = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
Window = tuple[int | None, int | None]
"""Places before and behind a query that its keys may be; None and -1: any."""


def sequence_by_sequence(
    triple: Triple, ends: Ends, window: Window, scale: float | None, *, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return attention shaped like the query, and log-sum-exp: (B, H, L), or packed (H, T).

    ``triple`` is (B, L, H, E), (B, S, G, E) twice; packed (T, H, E), (U, G, E) twice.
    """
    parts = _parts(triple, ends)
    left, right = (math.inf if side is None or side < 0 else float(side) for side in window)
    limits = (left, 0.0 if causal else right)
    made = [_one(query, key, value, scale, limits) for query, key, value in parts]
    outs, sums = [out for out, _ in made], [one for _, one in made]
    if ends == (None, None):
        return torch.stack(outs), torch.stack(sums)
    return torch.cat(outs), torch.cat(sums, -1)


def gradients_from(
    grad: torch.Tensor,
    out: torch.Tensor,
    made: tuple[torch.Tensor, torch.Tensor],
    leaves: Sequence[torch.Tensor],
) -> tuple[torch.Tensor, ...]:
    """Return those of ``leaves``, given ``grad`` of the forward's output ``out``.

    ``made`` are output and log-sum-exp of ``leaves``, made anew in f32 or f64. A backward starts
    from ``out`` as it was rounded, which tilts every row of the scores.
    """
    upper = attention.wide(grad)
    tilt = (upper * (made[0].detach() - attention.wide(out))).sum(-1).mT
    return torch.autograd.grad(made, leaves, (upper, tilt))


def _parts(triple: Triple, ends: Ends) -> list[Triple]:
    query, key, value = triple
    if ends[0] is None or ends[1] is None:
        return list(zip(query, key, value, strict=True))
    queries, keys = ends[0].diff().tolist(), ends[1].diff().tolist()
    cut = (query.split(queries), key.split(keys), value.split(keys))
    return list(zip(*cut, strict=True))


def _one(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float | None,
    limits: tuple[float, float],
) -> tuple[torch.Tensor, torch.Tensor]:
    repeated = query.shape[1] // key.shape[1]
    q, k, v = (attention.wide(one).transpose(0, 1) for one in (query, key, value))
    k, v = (one.repeat_interleave(repeated, 0) for one in (k, v))
    rows = torch.arange(q.shape[1]).unsqueeze(1) + k.shape[1] - q.shape[1]
    apart = torch.arange(k.shape[1]) - rows
    mask = (apart >= -limits[0]) & (apart <= limits[1])
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask, scale=scale)
    scores = (q @ k.mT * attention.factor_of(q, scale)).masked_fill(~mask, -math.inf)
    return out.transpose(0, 1).to(query.dtype), scores.logsumexp(-1)
