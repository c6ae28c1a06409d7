"""Windows, their maxima and where they are: what the ops share that slide them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence


_LAST = 1 << 62
"""Beyond every place."""


def each(given: Sequence[int], rank: int) -> list[int]:
    """Return one number for each of ``rank`` dimensions; a single one holds for all."""
    return list(given) * rank if len(given) == 1 else list(given)


def largest(
    x: torch.Tensor, places: torch.Tensor, windows: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the largest element of each window, and its place.

    ``x`` and ``places`` (broadcast to ``x``; ascending within a window) have the window's elements
    in their last ``windows`` dimensions. As in eager's pools the first of equal elements is taken,
    but the last NaN.
    """
    x = x.flatten(-windows)
    places = places.flatten(-windows)
    value = x.amax(-1)
    nan = torch.where(x.isnan(), places, -1).amax(-1)
    first = torch.where(x == value.unsqueeze(-1), places, _LAST).amin(-1)
    return value, torch.where(nan >= 0, nan, first)


def spread(
    values: torch.Tensor, places: torch.Tensor, sizes: Sequence[int], *, accumulate: bool
) -> torch.Tensor:
    """Return zeros (*batch, *``sizes``) with ``values`` written at ``places``, or added there.

    ``places`` are flat within ``sizes``, and shaped like ``values`` (*batch, *pooled), which has as
    many pooled dimensions as there are ``sizes``.
    """
    batch = values.shape[: values.dim() - len(sizes)]
    flat, where = values.flatten(len(batch)), places.flatten(len(batch))
    zeros = torch.zeros((*batch, math.prod(sizes)), dtype=values.dtype, device=values.device)
    result = zeros.scatter_add(-1, where, flat) if accumulate else zeros.scatter(-1, where, flat)
    return result.reshape(*batch, *sizes)


def flat_places(axes: Sequence[torch.Tensor], sizes: Sequence[int]) -> torch.Tensor:
    """Return flat places in ``sizes`` from those along each axis, (..., target, width) each.

    The result is (..., *targets, *widths).
    """
    count = len(axes)
    total = torch.zeros((), dtype=torch.int64, device=axes[0].device)
    for number, (axis, size) in enumerate(zip(axes, sizes, strict=True)):
        lead = axis.shape[:-2]
        shape = [1] * (2 * count)
        shape[number], shape[count + number] = axis.shape[-2:]
        total = total * size + axis.reshape(*lead, *shape)
    return total
