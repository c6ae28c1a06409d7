"""``logspace`` and ``range`` into a given tensor, which says dtype and device."""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._outputs import put
from op_registry.reference.kernels.sequences import logspace, range_step


@kernel(
    "aten.logspace.out",
    "aten.logspace.Tensor_Tensor_out",
    "aten.logspace.Tensor_Scalar_out",
    "aten.logspace.Scalar_Tensor_out",
    source="`logspace`",
    accuracy="that of `logspace`",
)
def logspace_out(
    start: Any, end: Any, steps: int, base: float = 10.0, *, out: torch.Tensor
) -> torch.Tensor:
    """Put ``steps`` powers of ``base``, the exponents evenly spaced, into ``out``."""
    result = logspace(start, end, steps, base, dtype=out.dtype, device=out.device)
    return put(out, result)


@kernel("aten.range.out", source="`range`", accuracy="that of `range`")
def range_out(start: Any, end: Any, step: Any = 1, *, out: torch.Tensor) -> torch.Tensor:
    """Put the numbers from ``start`` to ``end`` by ``step`` into ``out``."""
    return put(out, range_step(start, end, step, dtype=out.dtype, device=out.device))
