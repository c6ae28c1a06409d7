"""``median``, ``nanmedian``, ``kthvalue``: elements of the sorted input."""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._matrices import applied
from op_registry.reference.kernels._sorting import (
    Pair,
    any_index,
    check_reduced,
    picked,
    sorted_along,
)

_SOURCE = "definition, by a stable sort"
_EXACT = "exact"
_HOST = "the formula asks the host whether the result is NaN"
_TIES = "exact; of equal elements the index of any, as eager's selection leaves it open"


@kernel("aten.median.default", source=_SOURCE, accuracy=_EXACT, own_gradient=_HOST)
def median(self: torch.Tensor) -> torch.Tensor:
    """Return the lower median of all elements; NaN where one is NaN, or where there are none."""
    if self.numel() == 0:
        return torch.full((), float("nan"), dtype=self.dtype, device=self.device)
    found: torch.Tensor = applied(_Selected, self, _median)
    return found


@kernel("aten.median.dim", source=_SOURCE, accuracy=_TIES, canonical=any_index)
def median_dim(self: torch.Tensor, dim: int, keepdim: bool = False) -> Pair:
    """Return lower medians along ``dim`` and their indices; the first NaN where there is one."""
    return _median(self, check_reduced("median()", self, dim), keepdim=keepdim)


@kernel("aten.nanmedian.default", source=_SOURCE, accuracy=_EXACT, own_gradient=_HOST)
def nanmedian(self: torch.Tensor) -> torch.Tensor:
    """Return the lower median of the elements that are not NaN; NaN where all are."""
    if self.numel() == 0:
        return torch.full((), float("nan"), dtype=self.dtype, device=self.device)
    found: torch.Tensor = applied(_Selected, self, _nanmedian)
    return found


@kernel("aten.nanmedian.dim", source=_SOURCE, accuracy=_TIES, canonical=any_index)
def nanmedian_dim(self: torch.Tensor, dim: int, keepdim: bool = False) -> Pair:
    """Return lower medians along ``dim`` of what is not NaN, and their indices."""
    return _nanmedian(self, check_reduced("nanmedian()", self, dim), keepdim=keepdim)


@kernel("aten.kthvalue.default", source=_SOURCE, accuracy=_TIES, canonical=any_index)
def kthvalue(self: torch.Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Pair:
    """Return the ``k``-th smallest elements along ``dim``, from 1 on, and their indices."""
    dim = check_reduced("kthvalue()", self, dim)
    size = self.shape[dim] if self.dim() else 1
    if not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    return picked(sorted_along(self, dim), k - 1, dim, keepdim=keepdim)


class _Selected(torch.autograd.Function):
    """One element of all; its gradient is shared among those equal to it."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, select: Any) -> torch.Tensor:
        found: torch.Tensor = select(x.reshape(-1), 0, keepdim=False)[0]
        ctx.save_for_backward(x, found)
        return found

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        x, found = ctx.saved_tensors
        equal = (x == found) | (x.isnan() & found.isnan())
        return equal * (grads[0] / equal.sum()), None


def _median(self: torch.Tensor, dim: int, *, keepdim: bool) -> Pair:
    ordered = sorted_along(self, dim)
    size = self.shape[dim] if self.dim() else 1
    middle = (size - 1) // 2
    if not self.is_floating_point() or self.dim() == 0:
        return picked(ordered, middle, dim, keepdim=keepdim)
    numbers = _numbers(self, dim)
    return picked(ordered, torch.where(numbers == size, middle, numbers), dim, keepdim=keepdim)


def _nanmedian(self: torch.Tensor, dim: int, *, keepdim: bool) -> Pair:
    if not self.is_floating_point() or self.dim() == 0:
        return _median(self, dim, keepdim=keepdim)
    middle = (_numbers(self, dim) - 1).clamp(min=0) // 2
    return picked(sorted_along(self, dim), middle, dim, keepdim=keepdim)


def _numbers(self: torch.Tensor, dim: int) -> torch.Tensor:
    """Return how many elements along ``dim`` are not NaN, with that dimension kept."""
    return self.isnan().logical_not().sum(dim, keepdim=True)
