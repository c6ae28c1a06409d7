"""Samples of antialiased resize: larger, smaller, one of each, given scales, aligned corners."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_INPUT = (2, 3, 8, 13)
_OUTPUTS = ((3, 5), (17, 31), (11, 4), (8, 13), (1, 1))
_DTYPES = (torch.float32, torch.float64, torch.uint8)
_FILTERS = ("bilinear", "bicubic", "lanczos")


@handmade(*(f"aten._upsample_{name}2d_aa.default" for name in _FILTERS))
def forward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield resizes of images; eager PyTorch has them for f32, f64 and bytes."""
    if dtype not in _DTYPES:
        return
    for size, corners in itertools.product(_OUTPUTS, (False, True)):
        if dtype is not torch.uint8 or size != (1, 1):  # eager's kernel for bytes asserts there
            yield call(_image(_INPUT, dtype), list(size), corners)
    corners = False
    yield call(_image(_INPUT, dtype), [4, 26], corners, 0.5, 2.0)


@handmade(*(f"aten._upsample_{name}2d_aa_backward.default" for name in _FILTERS))
def backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the same resizes."""
    if dtype not in (torch.float32, torch.float64):
        return
    for size, corners in itertools.product(_OUTPUTS, (False, True)):
        gradient = _image((*_INPUT[:2], *size), dtype)
        yield call(gradient, list(size), list(_INPUT), corners)
    gradient, corners = _image((*_INPUT[:2], 4, 26), dtype), False
    yield call(gradient, [4, 26], list(_INPUT), corners, 0.5, 2.0)


def _image(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    if dtype is torch.uint8:
        return torch.randint(0, 256, shape, dtype=dtype)
    return torch.randn(shape, dtype=dtype)
