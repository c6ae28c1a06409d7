"""Ops that make tensors of numbers in a row: ``triu_indices``, ``logspace``, ``range``."""

from __future__ import annotations

import math
from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import computed_in


@kernel(
    "aten.triu_indices.default",
    source="the indices of the lower triangle, seen from the other corner",
    accuracy="exact",
)
def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: torch.dtype | None = torch.int64,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> torch.Tensor:
    """Return the rows and columns (2, count) of the entries on and above a diagonal, row by row.

    The matrix has ``row`` rows and ``col`` columns; ``offset`` 0 is the main diagonal.
    """
    del layout, pin_memory  # the schema has them; indices are strided
    dtype = dtype or torch.int64
    lower = torch.tril_indices(row, col, col - row - offset, dtype=dtype, device=device)
    rows, columns = lower.flip(1).unbind(0)
    return torch.stack([row - 1 - rows, col - 1 - columns])


@kernel(
    "aten.logspace.default",
    "aten.logspace.Tensor_Tensor",
    "aten.logspace.Tensor_Scalar",
    "aten.logspace.Scalar_Tensor",
    source="powers of evenly spaced exponents",
    accuracy="rounding of the exponent, which the power enlarges; integers are cut off as eager's",
)
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> torch.Tensor:
    """Return ``steps`` powers of ``base``, the exponents evenly spaced from ``start`` to ``end``.

    Both may be numbers or tensors without dimensions, which need not be read.
    """
    del layout, pin_memory  # the schema has them
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if any(isinstance(x, torch.Tensor) and x.dim() for x in (start, end)):
        raise RuntimeError("logspace only supports 0-dimensional start and end tensors")
    dtype = dtype or _default_type(start, end)
    wide = _computed_in(dtype)
    if wide is torch.float64 and dtype is not wide:
        start, end = _whole(start), _whole(end)
    places = torch.arange(steps, device=device)
    before, after = places.to(wide), (steps - 1 - places).to(wide)
    step = (end - start) / max(steps - 1, 1)
    # From the nearer end, as eager counts, so that both ends are exact.
    exponents = torch.where(places < steps // 2, start + step * before, end - step * after)
    if steps == 1:
        exponents = start + before
    return torch.pow(base, exponents.to(wide)).to(dtype)


def _default_type(start: Any, end: Any) -> torch.dtype:
    whole = torch.get_default_dtype()
    complex_ = any(
        x.is_complex() if isinstance(x, torch.Tensor) else isinstance(x, complex)
        for x in (start, end)
    )
    return whole.to_complex() if complex_ else whole


def _computed_in(dtype: torch.dtype) -> torch.dtype:
    """Return the dtype that powers are computed in: integers are cut off of float64."""
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.float64
    return computed_in(dtype)


def _whole(x: Any) -> Any:
    """Return a number or a tensor without its fraction."""
    return x.to(torch.int64) if isinstance(x, torch.Tensor) else int(x)


@kernel("aten.range.step", source="definition", accuracy="one rounding an element")
def range_step(
    start: Any,
    end: Any,
    step: Any = 1,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> torch.Tensor:
    """Return the numbers from ``start`` on by ``step``, ``end`` included where one falls on it."""
    del layout, pin_memory  # the schema has them
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    dtype = dtype or torch.get_default_dtype()
    count = math.floor((end - start) / step) + 1
    wide = computed_in(dtype)
    places = torch.arange(count, device=device).to(wide)
    return places.mul(step).add(start).to(dtype)


@kernel("aten.range.default", source="definition", accuracy="one rounding an element")
def range_one(
    start: Any,
    end: Any,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> torch.Tensor:
    """Return the numbers from ``start`` to ``end``, one apart."""
    return range_step(
        start, end, 1, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory
    )
