"""``trace``: the sum of a matrix's diagonal."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel


@kernel(
    "aten.trace.default",
    source="definition",
    accuracy="accumulates as `sum` does; integers and bools give int64",
)
def trace(self: torch.Tensor) -> torch.Tensor:
    """Return the sum of the diagonal of ``self`` (rows, columns) as a tensor without dimensions."""
    if self.dim() != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.dim()}")
    return self.diagonal().sum()
