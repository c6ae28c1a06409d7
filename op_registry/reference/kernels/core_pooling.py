"""Average pooling as sums of shifted reads, and its backward."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._vjp import ACCURACY, SOURCE, vjp, wide
from op_registry.reference.kernels._windows import each

if TYPE_CHECKING:
    from collections.abc import Sequence


@kernel(
    "aten.avg_pool2d.default",
    source="definition",
    accuracy="as `sum`, in float32 for shorter types",
)
def avg_pool2d(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> torch.Tensor:
    """Return the means of windows of ``self`` (*, height, width).

    A window is divided by its elements inside the padded input; by those inside the input without
    ``count_include_pad``; by ``divisor_override`` when given.
    """
    windows = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _pooled(self, 2, *windows)


@kernel(
    "aten.avg_pool3d.default",
    source="definition",
    accuracy="as `sum`, in float32 for shorter types",
)
def avg_pool3d(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> torch.Tensor:
    """Return the means of windows of ``self`` (*, depth, height, width), as ``avg_pool2d`` does."""
    windows = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _pooled(self, 3, *windows)


@kernel("aten.avg_pool2d_backward.default", source=SOURCE, accuracy=ACCURACY)
def avg_pool2d_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> torch.Tensor:
    """Return the gradient of ``self`` for that of its means, ``grad_output``."""
    windows = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _backward(grad_output, self, 2, *windows)


@kernel("aten.avg_pool3d_backward.default", source=SOURCE, accuracy=ACCURACY)
def avg_pool3d_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> torch.Tensor:
    """Return the gradient of ``self`` for that of its means, ``grad_output``."""
    windows = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _backward(grad_output, self, 3, *windows)


def _backward(
    grad_output: torch.Tensor, self: torch.Tensor, rank: int, *windows: Any
) -> torch.Tensor:
    if self.dtype.is_floating_point:
        return vjp(lambda x: _pooled(x, rank, *windows), [self], grad_output)[0]
    # Autograd knows no integers: float64 adds up what each window's division leaves whole.
    whole = self.double()
    share = grad_output.div(_sums(whole, rank, *windows)[1], rounding_mode="trunc")
    return vjp(lambda x: _sums(x, rank, *windows)[0], [whole], share.double())[0].to(self.dtype)


def _pooled(self: torch.Tensor, rank: int, *windows: Any) -> torch.Tensor:
    total, divisor = _sums(wide(self), rank, *windows)
    result = total / divisor
    return (result if self.dtype.is_floating_point else result.trunc()).to(self.dtype)


def _sums(
    planes: torch.Tensor,
    rank: int,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> tuple[torch.Tensor, torch.Tensor | int]:
    """Return the sums of the windows of ``planes``, and what each is divided by."""
    size, pads = each(kernel_size, rank), each(padding, rank)
    steps = each(stride, rank) if stride else size
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    for k, p in zip(size, pads, strict=True):
        if p > k // 2 or p < 0:
            raise RuntimeError(f"pad should be at most half of effective kernel size, got {p}, {k}")
    space = planes.shape[-rank:]
    counts = [
        _windows(n, k, s, p, ceil_mode=ceil_mode)
        for n, k, s, p in zip(space, size, steps, pads, strict=True)
    ]
    total = _summed(planes, size, steps, pads, counts)
    if divisor_override is not None:
        return total, divisor_override
    shape = [n + 2 * p for n, p in zip(space, pads, strict=True)] if count_include_pad else space
    inside = torch.ones(shape, dtype=planes.dtype, device=planes.device)
    edge = [0] * rank if count_include_pad else pads
    return total, _summed(inside, size, steps, edge, counts)


def _windows(n: int, k: int, s: int, p: int, *, ceil_mode: bool) -> int:
    """Return how many windows there are; with ``ceil_mode`` the last may hang over the end."""
    span = n + 2 * p - k
    count = -(-span // s) + 1 if ceil_mode else span // s + 1
    return count - 1 if ceil_mode and (count - 1) * s >= n + p else count


def _summed(
    planes: torch.Tensor,
    size: Sequence[int],
    steps: Sequence[int],
    pads: Sequence[int],
    counts: Sequence[int],
) -> torch.Tensor:
    edges = [
        (p, max(0, (c - 1) * s + k - n - p))
        for n, k, s, p, c in zip(planes.shape[-len(size) :], size, steps, pads, counts, strict=True)
    ]
    padded = torch.constant_pad_nd(planes, [side for edge in reversed(edges) for side in edge])
    total = torch.zeros((), dtype=planes.dtype, device=planes.device)
    for offsets in itertools.product(*map(range, size)):  # over the window's elements
        reads: list[Any] = [
            slice(start, start + (count - 1) * step + 1, step)
            for start, count, step in zip(offsets, counts, steps, strict=True)
        ]
        total = total + padded[(..., *reads)]
    return total
