"""Indexing with tensors, and moves that a mask or sorted bounds steer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from op_registry.reference.declare import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "definition"
_EXACT = "exact: values are moved, not computed"
_INDEX = ("__getitem__", "index_put", "take_along_dim", "roll")


@kernel(
    "aten.index.Tensor",
    source="definition: NumPy's advanced indexing, read as one gather of the flattened tensor",
    accuracy=_EXACT,
    samples=_INDEX,
    dynamic="a mask among the indices decides how many there are; integers do not",
)
def index(self: torch.Tensor, indices: Sequence[torch.Tensor | None]) -> torch.Tensor:
    """Return ``self`` read at the broadcast ``indices``, one a dimension; None reads all of it.

    The indices' shape stands where they stand when they are neighbours, else first. A mask stands
    for the indices at which it holds.
    """
    spread = _without_masks(indices)
    if len(spread) > self.dim():
        raise IndexError(f"too many indices for tensor of dimension {self.dim()}")
    spread += [None] * (self.dim() - len(spread))
    given = [place for place, one in enumerate(spread) if one is not None]
    if not given:
        return self.clone()
    used = torch.broadcast_tensors(*(spread[place] for place in given))
    kept = [place for place in range(self.dim()) if place not in given]
    lines = self.permute(*given, *kept).flatten(0, len(given) - 1)
    flat = torch.zeros_like(used[0], dtype=torch.int64)
    for place, one in zip(given, used, strict=True):
        size = self.shape[place]
        flat = flat * size + torch.where(one < 0, one + size, one)
    read = lines.index_select(0, flat.reshape(-1)).unflatten(0, flat.shape)
    neighbours = given == list(range(given[0], given[0] + len(given)))
    before = given[0] if neighbours else 0
    first = list(range(flat.dim()))
    result: torch.Tensor = read.movedim(first, [before + place for place in first])
    return result


def _without_masks(indices: Sequence[torch.Tensor | None]) -> list[torch.Tensor | None]:
    found: list[torch.Tensor | None] = []
    for one in indices:
        if one is not None and one.dtype in {torch.bool, torch.uint8}:
            found += list(one.nonzero().unbind(-1))
        else:
            found.append(one)
    return found


@kernel("aten.masked_scatter.default", source=_SOURCE, accuracy=_EXACT)
def masked_scatter(self: torch.Tensor, mask: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """Return ``self`` with the elements of ``source``, in order, where ``mask`` holds."""
    if mask.dtype is not torch.bool:
        raise RuntimeError("masked_scatter_ only supports boolean masks")
    if source.dtype != self.dtype:
        raise RuntimeError("masked_scatter: expected self and source to have same dtypes")
    self, mask = torch.broadcast_tensors(self, mask)
    if not source.numel():
        return self.clone()
    place = (mask.reshape(-1).cumsum(0) - 1).clamp(0, source.numel() - 1)
    return torch.where(mask, source.reshape(-1).gather(0, place).reshape(self.shape), self)


@kernel(
    "aten.searchsorted.Tensor",
    source="definition: the number of elements before the value",
    accuracy="exact",
    nonfinite="a sequence with such values in between is not sorted",
)
def searchsorted(
    sorted_sequence: torch.Tensor,
    self: torch.Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return where each of ``self`` would be put into ``sorted_sequence`` along the last dimension.

    Left of its equals, or ``right`` of them; ``sorter`` is the order that sorts the sequence.
    """
    if side not in {None, "left", "right"}:
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if right and side == "left":
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites")
    if sorter is not None:
        sorted_sequence = sorted_sequence.gather(-1, sorter)
    bounds = sorted_sequence.unsqueeze(-2) if self.dim() else sorted_sequence
    values = self.unsqueeze(-1)
    after = bounds > values if right or side == "right" else bounds >= values
    if bounds.dtype.is_floating_point:
        after = after | bounds.isnan()
    count = (~after).sum(-1)
    return count.to(torch.int32) if out_int32 else count


@kernel("aten.histc.default", source=_SOURCE, accuracy="exact but at the edges of bins")
def histc(self: torch.Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> torch.Tensor:
    """Return how many elements fall into each of ``bins`` equal bins from ``min`` to ``max``.

    The last bin holds ``max`` too. With ``min`` equal to ``max`` the bounds are the data's.
    """
    if bins <= 0:
        raise RuntimeError("bins must be > 0")
    values = self.reshape(-1)
    low, high = (torch.full((), float(b), device=self.device).to(self.dtype) for b in (min, max))
    if min == max and self.numel():
        low, high = values.amin(), values.amax()
        alike = low == high
        low, high = torch.where(alike, low - 1, low), torch.where(alike, high + 1, high)
    place = ((values - low) / (high - low) * bins).floor()
    place = torch.where(values == high, bins - 1, place)
    inside = (values >= low) & (values <= high)
    numbers = torch.arange(bins, device=self.device).unsqueeze(-1)
    return ((place == numbers) & inside).sum(-1).to(self.dtype)
