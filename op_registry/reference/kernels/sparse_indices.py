"""Indices of compressed rows: ``_convert_indices_from_coo_to_csr`` and back."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel

_SOURCE = "binary search"


@kernel("aten._convert_indices_from_coo_to_csr.default", source=_SOURCE, accuracy="exact")
def coo_to_csr(self: torch.Tensor, size: int, *, out_int32: bool = False) -> torch.Tensor:
    """Return where each of ``size`` rows begins, and the end of the last.

    ``self`` holds the row of each element in increasing order.
    """
    rows = torch.arange(size + 1, dtype=self.dtype, device=self.device)
    return torch.searchsorted(self, rows, out_int32=out_int32)


@kernel("aten._convert_indices_from_csr_to_coo.default", source=_SOURCE, accuracy="exact")
def csr_to_coo(
    crow_indices: torch.Tensor,
    col_indices: torch.Tensor,
    *,
    out_int32: bool = False,
    transpose: bool = False,
) -> torch.Tensor:
    """Return row and column (2, elements) of each element; column and row with ``transpose``.

    Batches in front of the rows' beginnings give one more row of indices each, on top.
    """
    dtype = torch.int32 if out_int32 else torch.int64
    shape = col_indices.shape
    places = torch.arange(shape[-1], dtype=crow_indices.dtype, device=crow_indices.device)
    places = places.expand(shape).contiguous()
    row = torch.searchsorted(crow_indices.contiguous(), places, right=True) - 1
    pair = (col_indices, row) if transpose else (row, col_indices)
    batch = [_numbers(place, shape, row.device) for place in range(len(shape) - 1)]
    return torch.stack([index.reshape(-1).to(dtype) for index in (*batch, *pair)])


def _numbers(dim: int, shape: torch.Size, device: torch.device) -> torch.Tensor:
    """Return a tensor of ``shape`` in which each element is its own index along ``dim``."""
    along = [-1 if place == dim else 1 for place in range(len(shape))]
    return torch.arange(shape[dim], device=device).reshape(along).expand(shape)
