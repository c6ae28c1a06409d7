"""Ops with a TPU kernel for one form only: from these definitions their ``out=`` forms follow."""

from __future__ import annotations

import math

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import floats


@kernel("aten.index_select.default", source="definition", accuracy="exact")
def index_select(self: torch.Tensor, dim: int, index: torch.Tensor) -> torch.Tensor:
    """Return the slices of ``self`` along ``dim`` that ``index``, of one dimension, numbers."""
    if index.dim() > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in {torch.int32, torch.int64}:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if self.dim() == 0:
        return self.clone() if index.numel() else self.new_empty(0)
    chosen: list[torch.Tensor | None] = [None] * (dim % self.dim())
    found: torch.Tensor = torch.ops.aten.index.Tensor(self, [*chosen, index.reshape(-1)])
    return found


@kernel("aten.narrow_copy.default", source="definition", accuracy="exact")
def narrow_copy(self: torch.Tensor, dim: int, start: int, length: int) -> torch.Tensor:
    """Return a copy of ``length`` slices of ``self`` along ``dim`` from ``start`` on."""
    return self.narrow(dim, start, length).clone()


@kernel("aten.mvlgamma.default", source="sum of log gammas", accuracy="that of `lgamma`")
def mvlgamma(self: torch.Tensor, p: int) -> torch.Tensor:
    """Return the logarithm of the gamma function in ``p`` dimensions, shaped like ``self``."""
    if self.is_complex():
        raise RuntimeError("mvlgamma is not implemented for complex tensors")
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")

    def summed(x: torch.Tensor) -> torch.Tensor:
        halves = torch.arange(p, dtype=x.dtype, device=x.device) / 2
        terms = (x.unsqueeze(-1) - halves).lgamma().sum(-1)
        return terms + p * (p - 1) / 4 * math.log(math.pi)

    return floats(summed, self)
