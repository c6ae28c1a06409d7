"""``nonzero_static``: indices of elements that are not zero, as many as asked for."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel


@kernel("aten.nonzero_static.default", source="running count, then a scatter", accuracy="exact")
def nonzero_static(self: torch.Tensor, *, size: int, fill_value: int = -1) -> torch.Tensor:
    """Return the indices (``size``, dimensions) of the first elements that are not zero.

    Rows for which there are no more elements hold ``fill_value``.
    """
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = (self != 0).reshape(-1)
    row = found.to(torch.int64).cumsum(0) - 1
    # All that have no row of their own go to one more, which is cut off.
    row = torch.where(found & (row < size), row, size)
    places = torch.arange(found.shape[0], device=self.device)
    flat = torch.full((size + 1,), -1, device=self.device).scatter(0, row, places)
    flat = flat.narrow(0, 0, size)
    columns, stride = [], self.numel()
    for length in self.shape:
        stride = stride // max(length, 1)
        columns.append(torch.div(flat, max(stride, 1), rounding_mode="floor") % max(length, 1))
    if not columns:
        return torch.empty((size, 0), dtype=torch.int64, device=self.device)
    return torch.where((flat < 0).unsqueeze(1), fill_value, torch.stack(columns, 1))
