"""``hash_tensor``: the exclusive or of all elements' bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence


@kernel("aten.hash_tensor.default", source="pairwise exclusive or", accuracy="exact")
def hash_tensor(
    self: torch.Tensor, dim: Sequence[int] = (), *, keepdim: bool = False, mode: int = 0
) -> torch.Tensor:
    """Return the exclusive or (uint64) over ``dim`` (empty: all) of elements as 64 bits.

    Floating-point numbers count as float64, integers as int64. It halves the elements again and
    again: as many steps as their number has bits.
    """
    if mode != 0:
        raise RuntimeError(f"hash_tensor: unknown mode {mode}, only 0 (exclusive or) is known")
    rank = self.dim()
    chosen = sorted({d % max(rank, 1) for d in (dim or range(rank))}) if rank else []
    rest = [place for place in range(rank) if place not in chosen]
    bits = self.double().view(torch.int64) if self.is_floating_point() else self.to(torch.int64)
    rows = bits.permute([*chosen, *rest]).reshape([-1, *(self.shape[place] for place in rest)])
    while rows.shape[0] > 1:
        half = rows.shape[0] // 2
        pairs = rows.narrow(0, 0, half) ^ rows.narrow(0, half, half)
        rows = torch.cat([pairs, rows.narrow(0, 2 * half, rows.shape[0] % 2)])
    result = rows.select(0, 0) if rows.shape[0] else rows.sum(0)
    if keepdim:
        result = result.reshape([1 if d in chosen else self.shape[d] for d in range(rank)])
    return result.view(torch.uint64)
