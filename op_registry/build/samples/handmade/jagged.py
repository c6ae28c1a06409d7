"""Samples of conversions between sequences one behind the other and padded ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_OFFSETS = (0, 2, 6, 7)
_LONGEST, _TOTAL, _WIDTH = 4, 7, 3


@handmade("aten._jagged_to_padded_dense_forward.default")
def to_padded(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield three sequences, padded with zero and with another number."""
    for padding in (0.0, 2.0) if dtype.is_floating_point else ():
        values = torch.randn(_TOTAL, _WIDTH).to(dtype)
        yield call(values, [torch.tensor(_OFFSETS)], [_LONGEST], padding)


@handmade("aten._padded_dense_to_jagged_forward.default")
def from_padded(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield three sequences, with their total length and without."""
    for total in (_TOTAL, None) if dtype.is_floating_point else ():
        padded = torch.randn(len(_OFFSETS) - 1, _LONGEST, _WIDTH).to(dtype)
        yield call(padded, [torch.tensor(_OFFSETS)], total)
