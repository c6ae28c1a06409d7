"""torch_tpu's own max pooling ops: without the indices that PyTorch's note for the backward."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._windows import each

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SOURCE = "definition: the largest of shifted reads"
_FORWARD = {
    1: torch.ops.aten.max_pool1d,
    2: torch.ops.aten.max_pool2d,
    3: torch.ops.aten.max_pool3d,
}


def _expected(self: torch.Tensor, kernel_size: Sequence[int], *rest: Any) -> torch.Tensor:
    pooled: torch.Tensor = _FORWARD[len(kernel_size)](self, kernel_size, *rest)
    return pooled


def _backward_expected(
    grad_output: torch.Tensor, self: torch.Tensor, kernel_size: Sequence[int], *rest: Any
) -> torch.Tensor:
    with torch.enable_grad():
        leaf = self.detach().requires_grad_()
        return torch.autograd.grad(_expected(leaf, kernel_size, *rest), leaf, grad_output)[0]


@kernel(
    "tpu._max_pool1d.default",
    "tpu._max_pool2d.default",
    "tpu._max_pool3d.default",
    source=_SOURCE,
    accuracy="exact",
    expected=_expected,
)
def max_pool(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> torch.Tensor:
    """Return the largest element of each window of ``self`` (*, *space); NaN counts as largest."""
    padded = _padded(self, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode)
    sizes = _sizes(self, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode)
    reads = (padded[where] for where in _reads(kernel_size, stride, dilation, sizes))
    largest = next(reads)
    for read in reads:
        largest = torch.maximum(largest, read)
    return largest.clone()


@kernel(
    "tpu._max_pool1d_backward.default",
    "tpu._max_pool2d_backward.default",
    "tpu._max_pool3d_backward.default",
    source="definition: a window's gradient goes to its first largest element",
    accuracy="as `sum` where windows overlap",
    expected=_backward_expected,
    nonfinite="which of several NaNs takes the gradient is not defined",
)
def max_pool_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> torch.Tensor:
    """Return the gradient of ``self`` (*, *space) for the gradient of its pooled form."""
    layout = (kernel_size, stride, padding, dilation)
    largest = max_pool(self, *layout, ceil_mode)
    padded = _padded(self, *layout, ceil_mode=ceil_mode)
    result, taken = torch.zeros_like(padded), torch.zeros_like(largest, dtype=torch.bool)
    for where in _reads(kernel_size, stride, dilation, largest.shape[-len(kernel_size) :]):
        here = (padded[where] == largest) & ~taken
        result[where] += torch.where(here, grad_output, 0)
        taken = taken | here
    space = len(kernel_size)
    inside: list[Any] = [
        slice(p, p + n) for p, n in zip(each(padding, space), self.shape[-space:], strict=True)
    ]
    return result[(..., *inside)].clone()


def _sizes(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    *,
    ceil_mode: bool,
) -> list[int]:
    rank = len(kernel_size)
    steps = stride or kernel_size
    found = []
    for n, k, s, p, d in zip(
        self.shape[-rank:],
        kernel_size,
        each(steps, rank),
        each(padding, rank),
        each(dilation, rank),
        strict=True,
    ):
        span = n + 2 * p - d * (k - 1) - 1
        count = (-(-span // s) if ceil_mode else span // s) + 1
        found.append(count - 1 if ceil_mode and (count - 1) * s >= n + p else count)
    return found


def _padded(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    *,
    ceil_mode: bool,
) -> torch.Tensor:
    rank = len(kernel_size)
    sizes = _sizes(self, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode)
    steps, spread = each(stride or kernel_size, rank), each(dilation, rank)
    pads: list[int] = []
    for place in reversed(range(rank)):
        before = each(padding, rank)[place]
        reach = (sizes[place] - 1) * steps[place] + spread[place] * (kernel_size[place] - 1) + 1
        pads += [before, max(before, reach - self.shape[place - rank] - before)]
    lowest = -torch.inf if self.is_floating_point() else torch.iinfo(self.dtype).min
    return torch.constant_pad_nd(self, pads, lowest)


def _reads(
    kernel_size: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    sizes: Sequence[int],
) -> Iterator[tuple[Any, ...]]:
    """Yield, for each element of a window, where all windows read it."""
    rank = len(kernel_size)
    steps, spread = each(stride or kernel_size, rank), each(dilation, rank)
    for offsets in itertools.product(*map(range, kernel_size)):
        starts = [offset * d for offset, d in zip(offsets, spread, strict=True)]
        yield (
            ...,
            *(
                slice(start, start + (count - 1) * step + 1, step)
                for start, count, step in zip(starts, sizes, steps, strict=True)
            ),
        )
