"""Reductions: ``std_mean``, ``nansum``, ``_aminmax``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import computed_in

if TYPE_CHECKING:
    from op_registry.reference.kernels._sorting import Pair

_SUM = "accumulation order of sums"


@kernel("aten.std_mean.correction", source="square root of the variance", accuracy=_SUM)
def std_mean(
    self: torch.Tensor,
    dim: list[int] | None = None,
    *,
    correction: Any = None,
    keepdim: bool = False,
) -> Pair:
    """Return standard deviation and mean over ``dim`` (None: all dimensions).

    Squares are summed and divided by their number less ``correction`` (None: 1). Of complex input
    the deviation is real.
    """
    if not (self.is_floating_point() or self.is_complex()):
        raise RuntimeError("std_mean only support floating point and complex dtypes")
    wide = self.to(computed_in(self.dtype))
    variance, mean = torch.var_mean(wide, dim, correction=correction, keepdim=keepdim)
    dtype = variance.dtype if self.is_complex() else self.dtype
    return variance.sqrt().to(dtype), mean.to(self.dtype)


@kernel("aten.nansum.default", source="sum with NaN as zero", accuracy=_SUM)
def nansum(
    self: torch.Tensor,
    dim: list[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Return the sum over ``dim`` (None or empty: all) in ``dtype``, NaN counting as zero.

    Integers and bools give int64 where no ``dtype`` is asked for.
    """
    if self.is_complex():
        raise RuntimeError("nansum does not support complex inputs")
    if self.is_floating_point():
        self = torch.where(self.isnan(), 0, self)
    return self.sum(dim, keepdim, dtype=dtype)


@kernel("aten._aminmax.default", source="definition", accuracy="exact")
def aminmax(self: torch.Tensor) -> Pair:
    """Return the smallest and the largest element; NaN where one is NaN."""
    return self.amin(), self.amax()


@kernel("aten._aminmax.dim", source="definition", accuracy="exact")
def aminmax_dim(self: torch.Tensor, dim: int, keepdim: bool = False) -> Pair:
    """Return the smallest and the largest elements along ``dim``; NaN where one is NaN."""
    return self.amin(dim, keepdim), self.amax(dim, keepdim)
