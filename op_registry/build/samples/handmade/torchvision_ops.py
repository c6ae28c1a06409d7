"""Samples of torchvision's ops.

Values are multiples of powers of two that every floating-point dtype has, so that one recorded
result serves all of them.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from op_registry.build.samples.sample import Sample

_DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
_IMAGES = (2, 3, 7, 9)
_BOXES = (
    # image, x1, y1, x2, y2
    (0, 0.5, 1.25, 6.5, 5.75),
    (1, 2.0, 0.0, 8.0, 6.0),
    (0, 3.25, 3.5, 3.5, 3.75),
    (1, -2.0, -1.5, 11.0, 9.0),
    (1, 4.0, 2.0, 1.0, 1.0),
)
"""Inside, along the rim, tiny, larger than the image, inside out."""


def _numbers(shape: Sequence[int], dtype: torch.dtype, start: int = 0) -> torch.Tensor:
    """Return scattered multiples of 1/64 in [-2, 2)."""
    steps = torch.arange(math.prod(shape)) * 73 + 29 * start
    return ((steps % 251 - 125).double() / 64).reshape(tuple(shape)).to(dtype)


def _boxes(dtype: torch.dtype, *, whole: bool = True) -> torch.Tensor:
    """Return ``_BOXES``; without those that leave the image unless ``whole``."""
    chosen = _BOXES if whole else (*_BOXES[:3], _BOXES[4])
    return torch.tensor(chosen, dtype=dtype)


@handmade("torchvision.nms.default")
def nms(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield clusters of boxes, more than are decided at once, equal scores, no box."""
    if dtype not in _DTYPES:
        return
    for count, threshold in ((1, 0.5), (12, 0.3), (40, 0.5), (150, 0.7), (0, 0.5)):
        number = torch.arange(count)
        corner = torch.stack([number * 7 % 13, number * 5 % 11], 1).double() / 2
        size = torch.stack([number * 3 % 5 + 8, number * 11 % 7 + 6], 1).double() / 2
        boxes = torch.cat([corner, corner + size], 1)
        scores = (number * 37 % 101).double() / 128
        yield call(boxes.to(dtype), scores.to(dtype), threshold)


def _pools(dtype: torch.dtype) -> Iterator[tuple[torch.Tensor, tuple[Any, ...]]]:
    """Yield boxes, then scale and pooled size."""
    for scale, pooled in ((1.0, (2, 3)), (0.5, (3, 2))):
        yield _boxes(dtype, whole=scale != 1.0), (scale, *pooled)


@handmade("torchvision.roi_align.default")
def roi_align(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield pools with a fixed number of samples and with as many as a bin has elements."""
    if dtype in _DTYPES:
        for (boxes, pool), ratio, aligned in itertools.product(
            _pools(dtype), (2, 0), (True, False)
        ):
            yield call(_numbers(_IMAGES, dtype), boxes, *pool, ratio, aligned)


@handmade("torchvision._roi_align_backward.default")
def roi_align_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the same pools."""
    if dtype in _DTYPES:
        for (boxes, pool), ratio, aligned in itertools.product(
            _pools(dtype), (2, 0), (True, False)
        ):
            gradient = _numbers((len(boxes), _IMAGES[1], *pool[1:]), dtype, start=1)
            yield call(gradient, boxes, *pool, *_IMAGES, ratio, aligned)


@handmade("torchvision.roi_pool.default")
def roi_pool(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield pools of regions inside and outside of the image."""
    if dtype in _DTYPES:
        for boxes, pool in _pools(dtype):
            yield call(_numbers(_IMAGES, dtype), boxes, *pool)


@handmade("torchvision._roi_pool_backward.default")
def roi_pool_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients with places that repeat and with empty bins."""
    if dtype in _DTYPES:
        for boxes, pool in _pools(dtype):
            shape = (len(boxes), _IMAGES[1], *pool[1:])
            places = (torch.arange(math.prod(shape)) * 5 % 64 - 1).reshape(shape).int()
            yield call(_numbers(shape, dtype, start=1), boxes, places, *pool, *_IMAGES)


def _by_position(pool: tuple[Any, ...]) -> tuple[int, int, int, int]:
    return (_IMAGES[0], 2 * pool[1] * pool[2], *_IMAGES[2:])


@handmade("torchvision.ps_roi_align.default")
def ps_roi_align(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield pools with channels for each bin, sampled as those of ``roi_align``.

    None of a region that is inside out: eager divides 0 by 0 there.
    """
    if dtype in _DTYPES:
        for (boxes, pool), ratio in itertools.product(_pools(dtype), (2, 0)):
            yield call(_numbers(_by_position(pool), dtype), boxes[:-1], *pool, ratio)


@handmade("torchvision.ps_roi_pool.default")
def ps_roi_pool(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield pools with channels for each bin."""
    if dtype in _DTYPES:
        for boxes, pool in _pools(dtype):
            yield call(_numbers(_by_position(pool), dtype), boxes, *pool)


def _mapped(boxes: torch.Tensor, pool: tuple[Any, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a gradient and the channels that its elements are from."""
    shape = (len(boxes), 2, *pool[1:])
    mapping = torch.arange(math.prod(shape[1:]), dtype=torch.int32).reshape(1, *shape[1:])
    return _numbers(shape, boxes.dtype, start=1), mapping.expand(shape).contiguous()


@handmade("torchvision._ps_roi_align_backward.default")
def ps_roi_align_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the same pools."""
    if dtype in _DTYPES:
        for (boxes, pool), ratio in itertools.product(_pools(dtype), (2, 0)):
            gradient, mapping = _mapped(boxes, pool)
            yield call(gradient, boxes, mapping, *pool, ratio, *_by_position(pool))


@handmade("torchvision._ps_roi_pool_backward.default")
def ps_roi_pool_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the same pools."""
    if dtype in _DTYPES:
        for boxes, pool in _pools(dtype):
            gradient, mapping = _mapped(boxes, pool)
            yield call(gradient, boxes, mapping, *pool, *_by_position(pool))


_CONVOLUTIONS = (
    # stride, padding, dilation (height and width each), groups, offset groups, mask
    ((1, 1, 0, 0, 1, 1), 1, 1, False),
    ((2, 1, 1, 2, 1, 2), 2, 1, True),
    ((1, 2, 1, 0, 2, 1), 1, 2, True),
)
_INPUT, _OUTPUTS, _KERNEL = (2, 4, 6, 7), 4, (3, 2)


def _convolutions(dtype: torch.dtype) -> Iterator[tuple[tuple[torch.Tensor, ...], list[Any]]]:
    """Yield input, weight, offset, mask and bias, then the rest."""
    for settings, groups, offset_groups, masked in _CONVOLUTIONS:
        stride, padding, dilation = settings[:2], settings[2:4], settings[4:]
        sizes = [
            (size + 2 * pad - step * (taps - 1) - 1) // pace + 1
            for size, pad, step, taps, pace in zip(
                _INPUT[2:], padding, dilation, _KERNEL, stride, strict=True
            )
        ]
        taps = offset_groups * math.prod(_KERNEL)
        tensors = (
            _numbers(_INPUT, dtype),
            _numbers((_OUTPUTS, _INPUT[1] // groups, *_KERNEL), dtype, start=2),
            _numbers((_INPUT[0], 2 * taps, *sizes), dtype, start=3),
            _numbers((_INPUT[0], taps, *sizes) if masked else (_INPUT[0], 0), dtype, start=4),
            _numbers((_OUTPUTS,), dtype, start=5),
        )
        yield tensors, [*settings, groups, offset_groups, masked]


@handmade("torchvision.deform_conv2d.default")
def deform_conv2d(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield convolutions with and without mask, groups and groups of offsets."""
    if dtype in _DTYPES:
        for tensors, rest in _convolutions(dtype):
            yield call(*tensors, *rest)


@handmade("torchvision._deform_conv2d_backward.default")
def deform_conv2d_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the same convolutions."""
    if dtype in _DTYPES:
        for tensors, rest in _convolutions(dtype):
            shape = (_INPUT[0], _OUTPUTS, *tensors[2].shape[2:])
            yield call(_numbers(shape, dtype, start=6), *tensors, *rest)
