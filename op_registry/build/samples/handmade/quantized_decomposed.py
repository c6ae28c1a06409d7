"""Samples of ``quantized_decomposed``, the ops that exported graphs quantise with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_OP = "quantized_decomposed"
_FLOATS = (torch.float32, torch.bfloat16, torch.float16)
_WHOLE = {torch.int8: (-128, 127), torch.uint8: (0, 255), torch.int32: (-8, 7)}


def _values(dtype: torch.dtype) -> torch.Tensor:
    """Return (4, 6) values of which some lie half way between two steps of 0.25."""
    halves = (torch.arange(24).reshape(4, 6) - 12) * 0.125
    return torch.where(torch.rand(4, 6) < 0.5, halves, 4 * torch.randn(4, 6)).to(dtype)


def _numbers(dtype: torch.dtype) -> torch.Tensor:
    low, high = _WHOLE[dtype]
    return torch.randint(low, high + 1, (4, 6)).to(dtype)


def _scales(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    return 0.25 * torch.arange(1, count + 1), torch.arange(count, dtype=torch.int32) % 3


@handmade(f"{_OP}.quantize_per_tensor.default")
def quantize(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield values with scale and bounds as numbers."""
    if dtype in _FLOATS:
        for whole, bounds in _WHOLE.items():
            yield call(_values(dtype), 0.25, 1, *bounds, whole)


@handmade(f"{_OP}.quantize_per_tensor.tensor")
def quantize_tensor(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield values with the scale as a tensor."""
    if dtype in _FLOATS:
        for whole, bounds in _WHOLE.items():
            yield call(_values(dtype), torch.tensor(0.3), torch.tensor([1]), *bounds, whole)


@handmade(f"{_OP}.quantize_per_tensor.tensor2")
def quantize_tensor2(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield values with the scale and the bounds as tensors."""
    if dtype in _FLOATS:
        for whole, bounds in _WHOLE.items():
            scale, point = torch.tensor([0.25]), torch.tensor(1)
            yield call(_values(dtype), scale, point, *map(torch.tensor, bounds), whole)


@handmade(f"{_OP}.dequantize_per_tensor.default")
def dequantize(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield whole numbers with scale and bounds as numbers, for several results."""
    if dtype in _WHOLE:
        for out in (None, torch.bfloat16, torch.float16):
            yield call(_numbers(dtype), 0.3, 1, *_WHOLE[dtype], dtype, out_dtype=out)


@handmade(f"{_OP}.dequantize_per_tensor.tensor")
def dequantize_tensor(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield whole numbers with the scale as a tensor, for several results."""
    if dtype in _WHOLE:
        for out in (None, torch.bfloat16, torch.float64):
            scale, point = torch.tensor([0.3]), torch.tensor(1)
            yield call(_numbers(dtype), scale, point, *_WHOLE[dtype], dtype, out_dtype=out)


@handmade(f"{_OP}.dequantize_per_tensor.tensor2")
def dequantize_tensor2(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield whole numbers with the scale and the bounds as tensors."""
    if dtype in _WHOLE:
        bounds = tuple(map(torch.tensor, _WHOLE[dtype]))
        yield call(_numbers(dtype), torch.tensor([0.3]), torch.tensor([1]), *bounds, dtype)


@handmade(f"{_OP}.quantize_per_channel.default")
def quantize_channels(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield values with a scale a row, then one a column."""
    if dtype in _FLOATS:
        for axis, count in enumerate((4, 6)):
            for whole, bounds in _WHOLE.items():
                yield call(_values(dtype), *_scales(count), axis, *bounds, whole)


@handmade(f"{_OP}.dequantize_per_channel.default")
def dequantize_channels(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield whole numbers with a scale a row, then one a column, with and without zero points."""
    if dtype in _WHOLE:
        for axis, count in enumerate((4, 6)):
            scale, point = _scales(count)
            for given in (point, None):
                bounds = _WHOLE[dtype]
                for out in (None, torch.bfloat16):
                    numbers = _numbers(dtype)
                    yield call(numbers, scale, given, axis, *bounds, dtype, out_dtype=out)


@handmade(f"{_OP}.fake_quant_per_channel.default")
def fake_quantize(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield f32 values with a scale a row, then one a column."""
    if dtype == torch.float32:
        for axis, count in enumerate((4, 6)):
            yield call(_values(dtype), *_scales(count), axis, 0, 15)


@handmade(f"{_OP}.convert_element_type.no_fuse")
def convert(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield values for other dtypes and for their own."""
    if dtype in _FLOATS:
        for other in (dtype, torch.float32, torch.int32, torch.bool):
            yield call(_values(dtype), other)


@handmade(f"{_OP}.choose_qparams.tensor", f"{_OP}.choose_qparams_symmetric.tensor")
def choose(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield values on both sides of zero, on one side, and all zero."""
    if dtype in _FLOATS:
        for values in (_values(dtype), _values(dtype).abs(), -_values(dtype).abs()):
            yield call(values, -128, 127, 1e-5, torch.int8)
        yield call(torch.zeros(3, dtype=dtype), 0, 255, 1e-5, torch.uint8)


@handmade(
    f"{_OP}.choose_qparams_per_token.default",
    f"{_OP}.choose_qparams_per_token_asymmetric.default",
    f"{_OP}._choose_qparams_per_token_asymmetric_impl.default",
)
def choose_tokens(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield rows on both sides of zero, on one side, and all zero."""
    if dtype in _FLOATS:
        for factor in (1, 0):
            yield call(_values(dtype) * factor, torch.int8)
        yield call(_values(dtype).abs().reshape(2, 2, 6), torch.int8)


@handmade(f"{_OP}.quantize_per_token.default")
def quantize_tokens(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield rows with a scale each, f32 and f64."""
    if dtype in _FLOATS:
        scale, point = (part.unsqueeze(1) for part in _scales(4))
        for whole, bounds in _WHOLE.items():
            for wide in (scale, scale.double()):
                yield call(_values(dtype), wide, point, *bounds, whole)


@handmade(f"{_OP}.dequantize_per_token.default")
def dequantize_tokens(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield rows with an f64 scale and an int64 zero point each."""
    if dtype in _WHOLE:
        scale, point = (part.unsqueeze(1) for part in _scales(4))
        for out in (torch.float32, torch.bfloat16):
            parts = (scale.double(), point.long(), *_WHOLE[dtype])
            yield call(_numbers(dtype), *parts, dtype, out)


@handmade(f"{_OP}.quantize_per_channel_group.default")
def quantize_groups(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield rows with a scale for three columns, then one a row."""
    if dtype in _FLOATS:
        for whole, bounds in _WHOLE.items():
            for groups, size in ((2, 3), (1, 128)):
                scale, point = (part.reshape(4, groups) for part in _scales(4 * groups))
                yield call(_values(dtype), scale, point, *bounds, whole, size)


@handmade(f"{_OP}.dequantize_per_channel_group.default")
def dequantize_groups(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield rows with a scale for three columns, with and without zero points."""
    if dtype in _WHOLE:
        scale, point = (part.reshape(4, 2) for part in _scales(8))
        for given in (point, None):
            for out in (torch.float32, torch.bfloat16):
                yield call(_numbers(dtype), scale, given, *_WHOLE[dtype], dtype, 3, out)
