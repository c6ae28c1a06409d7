"""Convolutions that PyTorch reaches by library, device and size only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_TAKEN = (torch.float32, torch.float64, torch.bfloat16)
_EXTRA = (False, False, True, True)
"""How CUDA is to compute it."""


def _images(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.randn(shape).to(dtype)


def _general(dtype: torch.dtype) -> Iterator[tuple[Any, ...]]:
    if dtype in _TAKEN:
        plain = _images(dtype, 2, 4, 6, 5), _images(dtype, 6, 2, 3, 3), _images(dtype, 6)
        yield (*plain, [1, 2], [1, 1], [1, 1], False, [0, 0], 2)
        transposed = _images(dtype, 2, 4, 3, 4), _images(dtype, 4, 3, 2, 2), None
        yield (*transposed, [2, 2], [0, 1], [1, 1], True, [1, 0], 1)
        one = _images(dtype, 2, 3, 9), _images(dtype, 5, 3, 3), _images(dtype, 5)
        yield (*one, [1], [0], [2], False, [0], 1)


@handmade("aten._convolution.default")
def convolution(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield grouped, transposed and dilated convolutions."""
    for given in _general(dtype):
        yield call(*given, *_EXTRA)


@handmade("aten._convolution.deprecated")
def convolution_deprecated(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same without the last argument."""
    for given in _general(dtype):
        yield call(*given, *_EXTRA[:3])


@handmade("aten.convolution_overrideable.default")
def convolution_overrideable(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same without what only CUDA looks at."""
    for given in _general(dtype):
        yield call(*given)


def _spaces(rank: int, *values: int) -> list[int]:
    return list(values[:rank])


def _slow(dtype: torch.dtype, rank: int, *, transposed: bool = False) -> Iterator[tuple[Any, ...]]:
    """Yield input, weight, sizes of the kernel and bias."""
    if dtype in _TAKEN:
        size = _spaces(rank, 2, 3, 2)
        for outputs, bias in ((4, True), (3, False)):
            x = _images(dtype, 2, 3, *_spaces(rank, 5, 6, 5))
            channels = (3, outputs) if transposed else (outputs, 3)
            weight = _images(dtype, *channels, *size)
            yield x, weight, size, _images(dtype, outputs) if bias else None


@handmade("aten._slow_conv2d_forward.default")
def slow_conv2d(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield images with and without bias."""
    for given in _slow(dtype, 2):
        yield call(*given, [1, 2], [1, 0])


@handmade("aten._slow_conv2d_backward.output_mask")
def slow_conv2d_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of all three, and of the input alone."""
    for x, weight, size, _ in _slow(dtype, 2):
        output = torch.ops.aten._slow_conv2d_forward(x, weight, size, None, [1, 2], [1, 0])
        grad = torch.randn_like(output)
        yield call(grad, x, weight, size, [1, 2], [1, 0], [True, True, True])
        yield call(grad, x, weight, size, [1, 2], [1, 0], [True, False, False])


@handmade("aten._slow_conv2d_backward.grad_input")
def slow_conv2d_backward_into(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients with tensors for them."""
    for sample in slow_conv2d_backward(dtype):
        *given, mask = sample.args
        if all(mask):
            _, x, weight, *_ = given
            outs = {"grad_input": torch.empty_like(x), "grad_weight": torch.empty_like(weight)}
            yield call(*given, **outs, grad_bias=weight.new_empty(weight.shape[0]))


@handmade("aten.slow_conv3d_forward.default")
def slow_conv3d(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield volumes with and without bias."""
    for given in _slow(dtype, 3):
        yield call(*given, [1, 2, 1], [1, 0, 1])


@handmade("aten.slow_conv_dilated2d.default")
def slow_conv_dilated2d(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield images with and without bias, and one without a batch."""
    for given in _slow(dtype, 2):
        yield call(*given, [1, 2], [1, 0], [2, 1])
        yield call(given[0].select(0, 0), *given[1:])


@handmade("aten.slow_conv_dilated3d.default")
def slow_conv_dilated3d(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield volumes with and without bias."""
    for given in _slow(dtype, 3):
        yield call(*given, [1, 2, 1], [1, 0, 1], [2, 1, 2])


@handmade("aten.slow_conv_transpose2d.default")
def slow_conv_transpose2d(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield images with and without bias."""
    for given in _slow(dtype, 2, transposed=True):
        yield call(*given, [2, 1], [1, 0], [1, 0], [1, 2])


@handmade("aten.slow_conv_transpose3d.default")
def slow_conv_transpose3d(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield volumes with and without bias."""
    for given in _slow(dtype, 3, transposed=True):
        yield call(*given, [2, 1, 1], [1, 0, 1], [1, 0, 0], [1, 1, 2])


@handmade("aten._conv_depthwise2d.default")
def conv_depthwise2d(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield channels with one kernel each and with two."""
    if dtype in _TAKEN:
        for many, bias in ((1, None), (2, _images(dtype, 6))):
            given = _images(dtype, 2, 3, 5, 6), _images(dtype, 3 * many, 1, 3, 2)
            yield call(*given, [3, 2], bias, [1, 2], [1, 0], [1, 1])


@handmade("aten.conv_depthwise3d.default")
def conv_depthwise3d(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield volumes with one kernel a channel and with two."""
    if dtype in _TAKEN:
        for many, bias in ((1, None), (2, _images(dtype, 6))):
            given = _images(dtype, 2, 3, 3, 4, 5), _images(dtype, 3 * many, 1, 2, 3, 2)
            yield call(*given, [2, 3, 2], bias, [1, 2, 1], [1, 0, 1], [1, 1, 2])
