"""Samples of products with 4-bit weights that are packed for GPUs, or quantise on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample


def _bytes(*shape: int) -> torch.Tensor:
    return torch.randint(0, 256, shape, dtype=torch.uint8)


@handmade("aten._convert_weight_to_int4pack.default")
def to_pack(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield bytes of two numbers each, for each count of inner tiles."""
    if dtype == torch.uint8:
        yield call(_bytes(8, 16), 2)
        yield call(_bytes(24, 64), 4)
        yield call(_bytes(12, 128), 8)


@handmade("aten._weight_int4pack_mm.default")
def packed(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield activations with weights in the form for tensor cores."""
    if dtype == torch.bfloat16:
        for rows, columns, tiles, group in ((8, 32, 2, 32), (16, 128, 4, 64), (8, 256, 8, 32)):
            shape = (rows // 8, columns // (16 * tiles), 32, tiles // 2)
            weight = torch.randint(-(2**31), 2**31, shape).to(torch.int32)
            parts = (0.1 * torch.rand(columns // group, rows), torch.randn(columns // group, rows))
            parameters = torch.stack(parts, -1).to(dtype)
            yield call(torch.randn(3, columns).to(dtype), weight, group, parameters)


@handmade("aten._weight_int4pack_mm_with_scales_and_zeros.default")
def packed_apart(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield activations with weights in the form for Intel's GPUs."""
    if dtype in {torch.float16, torch.bfloat16}:
        for rows, columns, group in ((8, 32, 32), (16, 128, 64)):
            weight = torch.randint(-(2**31), 2**31, (rows, columns // 8)).to(torch.int32)
            scale = (0.1 * torch.rand(columns // group, rows)).to(dtype)
            zero = torch.randint(0, 16, scale.shape).to(torch.int8)
            yield call(torch.randn(3, columns).to(dtype), weight, group, scale, zero)


def _forms() -> Iterator[tuple[int, int, int]]:
    yield from ((32, 64, 64), (16, 64, 32), (8, 96, 32), (4, 40, 40))


@handmade("aten._dyn_quant_pack_4bit_weight.default")
def to_pack_dynamic(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield bytes with scales for all columns or for groups, with and without biases."""
    if dtype in {torch.float32, torch.bfloat16}:
        for rows, columns, group in _forms():
            scale = torch.rand(rows, columns // group).to(dtype)
            for bias in (None, torch.rand(rows).to(dtype)):
                yield call(_bytes(rows, columns // 2), scale, bias, group, columns, rows)


@handmade("aten._dyn_quant_matmul_4bit.default")
def dynamic(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield activations with weights whose scales span all columns or groups, and with biases.

    bfloat16 activations go with scales for all columns.
    """
    if dtype not in {torch.float32, torch.bfloat16}:
        return
    for rows, columns, group in _forms():
        if dtype == torch.bfloat16 and group < columns:
            continue
        numbers = _bytes(rows * columns // 2).float()
        weight = torch.cat([numbers, torch.rand(rows * columns // group)])
        yield call(torch.randn(5, columns).to(dtype), weight, group, columns, rows)
        biased = torch.cat([weight, torch.randn(rows)])
        yield call(torch.randn(3, columns).to(dtype), biased, group, columns, rows)
    yield call(torch.rand(2, columns).to(dtype), weight, group, columns, rows)
    yield call(torch.zeros(1, columns).to(dtype), weight, group, columns, rows)
