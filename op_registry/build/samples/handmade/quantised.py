"""Samples of ops that quantise, and of those that compute with quantised weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_FLOATS = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
_BOUNDS = ((-128, 127), (0, 255), (-8, 7))
_ON, _OFF = torch.ones(1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64)


def _values(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Return values of which some lie half way between two steps, and some beyond the last."""
    halves = torch.arange(-8, 8).repeat(-(-torch.Size(shape).numel() // 16))
    near = halves[: torch.Size(shape).numel()].reshape(shape) * 0.125
    return torch.where(torch.rand(shape) < 0.5, near, 8 * torch.randn(shape)).to(dtype)


def _channels(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return scales that are powers of two, so that what lies half way does so in floats."""
    return 0.25 * 2.0 ** (torch.arange(count) % 3), torch.arange(count, dtype=torch.int32)


@handmade("aten.fake_quantize_per_tensor_affine_cachemask.default")
def per_tensor(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield values with the scale and zero point as numbers."""
    if dtype in _FLOATS:
        for low, high in _BOUNDS:
            yield call(_values(dtype, 4, 16), 0.25, 2, low, high)


@handmade("aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default")
def per_tensor_switched(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield values with scale and zero point as tensors, switched on and off."""
    if dtype in _FLOATS:
        for enabled in (_ON, _OFF):
            for low, high in _BOUNDS:
                point = torch.tensor([3], dtype=torch.int32)
                yield call(_values(dtype, 4, 16), torch.tensor([0.25]), point, enabled, low, high)


@handmade("aten.fake_quantize_per_tensor_affine.tensor_qparams")
def per_tensor_tensors(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield values with scale and zero point as tensors."""
    if dtype in _FLOATS:
        for low, high in _BOUNDS:
            point = torch.tensor([3], dtype=torch.int32)
            yield call(_values(dtype, 4, 16), torch.tensor([0.25]), point, low, high)


@handmade(
    "aten.fake_quantize_per_channel_affine.default",
    "aten.fake_quantize_per_channel_affine_cachemask.default",
)
def per_channel(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield values with scales and zero points a channel, whole and floating-point ones."""
    if dtype in _FLOATS:
        for axis, count in enumerate((3, 4, 5)):
            scale, point = _channels(count)
            for low, high in _BOUNDS:
                yield call(_values(dtype, 3, 4, 5), scale, point, axis, low, high)
        yield call(_values(dtype, 3, 4, 5), scale, point + 0.5, axis, 0, 15)


@handmade("aten._fake_quantize_learnable_per_tensor_affine.default")
def learnable(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield values with a learned scale and zero point, which need not be whole."""
    if dtype in _FLOATS:
        for low, high in _BOUNDS:
            for point in (0.5, 2.6):
                parts = (torch.tensor([0.25]), torch.tensor([point]))
                yield call(_values(dtype, 4, 16), *parts, low, high, 0.5)


@handmade("aten._fake_quantize_learnable_per_channel_affine.default")
def learnable_channels(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield values with learned scales and zero points a channel."""
    if dtype in _FLOATS:
        for axis, count in enumerate((3, 4, 5)):
            scale, point = _channels(count)
            for low, high in _BOUNDS:
                yield call(_values(dtype, 3, 4, 5), scale, point + 0.25, axis, low, high, 0.5)


@handmade("aten._fake_quantize_learnable_per_tensor_affine_backward.default")
def learnable_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients with the values of a forward call."""
    if dtype in {torch.float32, torch.bfloat16}:
        for sample in learnable(dtype):
            yield call(torch.randn(4, 16).to(dtype), *sample.args)


@handmade("aten._fake_quantize_learnable_per_channel_affine_backward.default")
def learnable_channels_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients with the values of a forward call."""
    if dtype in {torch.float32, torch.bfloat16}:
        for sample in learnable_channels(dtype):
            yield call(torch.randn(3, 4, 5).to(dtype), *sample.args)


@handmade("aten._int_mm.default")
def int8_product(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield int8 matrices: small, with the largest sums, and with more than 1024 columns."""
    if dtype == torch.int8:
        for rows, inner, columns in ((17, 8, 8), (32, 64, 16), (3, 2500, 4), (1, 1, 1)):
            left = torch.randint(-128, 128, (rows, inner), dtype=dtype)
            yield call(left, torch.randint(-128, 128, (inner, columns), dtype=dtype))
        yield call(torch.full((4, 1100), -128, dtype=dtype), torch.full((1100, 4), -128).to(dtype))


@handmade("aten._weight_int8pack_mm.default")
def int8_weights(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield activations with int8 weights."""
    if dtype in {torch.float32, torch.bfloat16, torch.float16}:
        for rows, inner, columns in ((1, 32, 16), (4, 64, 32), (5, 128, 48)):
            weight = torch.randint(-128, 128, (columns, inner), dtype=torch.int8)
            scale = 0.02 * torch.rand(columns).to(dtype)
            yield call(torch.randn(rows, inner).to(dtype), weight, scale)


def _numbers(rows: int, columns: int) -> torch.Tensor:
    return torch.randint(0, 16, (rows, columns), dtype=torch.int32)


def _group_parameters(rows: int, groups: int, dtype: torch.dtype) -> torch.Tensor:
    parts = (0.1 * torch.rand(groups, rows), torch.randn(groups, rows))
    return torch.stack(parts, -1).to(dtype)


@handmade("aten._convert_weight_to_int4pack_for_cpu.default")
def int4_to_pack(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield numbers for whole blocks of rows, for less and for more."""
    if dtype == torch.int32:
        for rows in (16, 32, 48, 64, 112, 128):
            yield call(_numbers(rows, 32), 2)


@handmade("aten._weight_int4pack_mm_for_cpu.default")
def int4_weights(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield activations with packed 4-bit weights."""
    if dtype in {torch.float32, torch.bfloat16, torch.float16}:
        for rows, columns, group in ((16, 64, 32), (48, 128, 64), (64, 64, 32), (112, 64, 32)):
            packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(_numbers(rows, columns), 2)
            parameters = _group_parameters(rows, columns // group, dtype)
            yield call(torch.randn(3, columns).to(dtype), packed, group, parameters)
