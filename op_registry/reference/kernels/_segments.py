"""Which keys a query may look at, in tensors that hold whole sequences or pack them end to end."""

from __future__ import annotations

from dataclasses import dataclass

import torch

Ends = tuple[torch.Tensor | None, torch.Tensor | None]
"""Cumulative lengths (N+1) of queries and of keys; None: one sequence an item of the batch."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Segments:
    """Where the tokens of a tensor lie in their sequences; int64, by token."""

    sequence: torch.Tensor
    """Number of the sequence; that of no sequence for tokens past the last one."""
    place: torch.Tensor
    """From 0 within the sequence."""
    length: torch.Tensor
    """Of the sequences: by sequence, the last one being of no sequence."""


def segments(tokens: int, ends: torch.Tensor | None, device: torch.device) -> Segments:
    """Return those of ``tokens`` that are one sequence, or packed with cumulative ``ends`` (N+1).

    ``ends`` starts with 0.
    """
    place = torch.arange(tokens, device=device)
    if ends is None:
        whole = torch.full((1,), tokens, dtype=torch.int64, device=device)
        return Segments(sequence=torch.zeros_like(place), place=place, length=whole)
    ends = ends.to(torch.int64)
    sequence = (place.unsqueeze(1) >= ends[1:]).sum(1)
    length = torch.cat([ends[1:] - ends[:-1], ends.new_zeros(1)])
    return Segments(sequence=sequence, place=place - ends[sequence], length=length)


def allowed_in(
    query: torch.Tensor,
    key: torch.Tensor,
    ends: Ends,
    *,
    left: int | None,
    right: int | None,
    last: bool = True,
) -> torch.Tensor:
    """Return :func:`allowed` for the tokens of ``query`` (B, H, L, E) and ``key`` (B, H, S, E)."""
    queries = segments(query.shape[2], ends[0], query.device)
    keys = segments(key.shape[2], ends[1], key.device)
    return allowed(queries, keys, left=left, right=right, last=last)


def allowed(
    query: Segments, key: Segments, *, left: int | None, right: int | None, last: bool = True
) -> torch.Tensor:
    """Return as bools (queries, keys) which pairs are of one sequence and near enough.

    A key may be ``left`` places before its query and ``right`` behind it; None: any. With ``last``
    the last query of a sequence stands at its last key, else the first at the first.
    """
    same = query.sequence.unsqueeze(1) == key.sequence
    apart = key.place - query.place.unsqueeze(1)
    if last:
        apart = apart - (key.length - query.length)[query.sequence].unsqueeze(1)
    if right is not None:
        same = same & (apart <= right)
    return same if left is None else same & (apart >= -left)
