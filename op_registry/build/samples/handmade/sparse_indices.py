"""Indices of compressed rows, which sparse tensors ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_TAKEN = (torch.int32, torch.int64)


@handmade("aten._convert_indices_from_coo_to_csr.default")
def coo_to_csr(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield rows with several elements, with none, and no elements at all."""
    if dtype in _TAKEN:
        for rows, size in (([0, 0, 2, 3, 3, 3], 5), ([1], 3), ([], 2)):
            yield call(torch.tensor(rows, dtype=dtype), size)
        yield call(torch.tensor([0, 2], dtype=dtype), 3, out_int32=True)


@handmade("aten._convert_indices_from_csr_to_coo.default")
def csr_to_coo(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield one matrix, a batch of two, and a batch of two by two."""
    if dtype in _TAKEN:
        crow = torch.tensor([[0, 2, 2, 3], [0, 1, 2, 3]], dtype=dtype)
        col = torch.tensor([[0, 2, 1], [1, 1, 0]], dtype=dtype)
        yield call(crow.select(0, 0), col.select(0, 0))
        yield call(crow.select(0, 1), col.select(0, 1), out_int32=True)
        yield call(crow, col, transpose=True)
        yield call(crow.expand(2, 2, 4), col.expand(2, 2, 3))
