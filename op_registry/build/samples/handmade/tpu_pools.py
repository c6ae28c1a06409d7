"""Samples of torch_tpu's own max pooling ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_LAYOUTS = ((2, 2, 0, 1, False), (3, 2, 1, 1, False), (3, 2, 1, 1, True), (2, 1, 0, 2, False))
"""Kernel, stride, padding, dilation, whether the last window may hang over the end."""
_SHAPES = ((2, 3, 11), (2, 3, 7, 9), (1, 2, 5, 7, 6))


def _calls(rank: int, dtype: torch.dtype) -> Iterator[Sample]:
    for size, step, pad, spread, hangs in _LAYOUTS if dtype.is_floating_point else ():
        given = torch.randn(_SHAPES[rank - 1]).to(dtype)
        yield call(given, [size] * rank, [step] * rank, [pad] * rank, [spread] * rank, hangs)


def _backward(rank: int, dtype: torch.dtype) -> Iterator[Sample]:
    pool = (torch.max_pool1d, torch.max_pool2d, torch.max_pool3d)[rank - 1]
    for forward in _calls(rank, dtype):
        pooled = pool(*forward.args)
        yield call(torch.randn_like(pooled), *forward.args)


@handmade("tpu._max_pool1d.default")
def max_pool1d(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield windows that touch, overlap, hang over the end, and with gaps."""
    yield from _calls(1, dtype)


@handmade("tpu._max_pool2d.default")
def max_pool2d(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same in two dimensions."""
    yield from _calls(2, dtype)


@handmade("tpu._max_pool3d.default")
def max_pool3d(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same in three dimensions."""
    yield from _calls(3, dtype)


@handmade("tpu._max_pool1d_backward.default")
def max_pool1d_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the calls."""
    yield from _backward(1, dtype)


@handmade("tpu._max_pool2d_backward.default")
def max_pool2d_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the calls."""
    yield from _backward(2, dtype)


@handmade("tpu._max_pool3d_backward.default")
def max_pool3d_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the calls."""
    yield from _backward(3, dtype)
