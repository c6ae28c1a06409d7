"""Samples of the dense backward of ``EmbeddingBag``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_ROWS, _FEATURES = 9, 4
_INDICES = (3, 8, 3, 0, 5, 5, 1, 3)
_OFFSETS = (0, 3, 3, 6)
"""Four bags, the second empty."""
_SUM, _MEAN, _MAX = range(3)


@handmade("aten._embedding_bag_dense_backward.default")
def dense_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients in every mode, by frequency, with weights of samples, with a padding row."""
    if not dtype.is_floating_point:
        return
    for mode, by_frequency, weighted, padding in (
        (_SUM, False, False, -1),
        (_SUM, True, False, 3),
        (_SUM, False, True, 5),
        (_MEAN, False, False, -1),
        (_MEAN, True, False, 3),
        (_MAX, False, False, -1),
        (_MAX, False, False, 3),
    ):
        weight = torch.randn(_ROWS, _FEATURES).to(dtype)
        indices, offsets = torch.tensor(_INDICES), torch.tensor(_OFFSETS)
        scales = torch.randn(len(_INDICES)).to(dtype) if weighted else None
        options = (by_frequency, mode, False, scales, False, padding)
        bags, _, size, largest = torch._embedding_bag(weight, indices, offsets, *options)
        of_bag = torch.searchsorted(offsets, torch.arange(len(_INDICES)), right=True) - 1
        found = (torch.randn_like(bags), indices, of_bag, size, largest)
        yield call(*found, _ROWS, by_frequency, mode, scales, padding)
