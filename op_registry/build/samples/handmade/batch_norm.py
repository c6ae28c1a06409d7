"""Samples of SyncBatchNorm's ops, of the newer batch norm ops and of their backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_SHAPES = ((6, 3), (4, 3, 5), (2, 3, 4, 5), (2, 1, 3, 2, 2))
_EPS, _MOMENTUM, _PROCESSES = 1e-5, 0.1, 4


def _inputs(dtype: torch.dtype) -> Iterator[torch.Tensor]:
    if dtype.is_floating_point:
        yield from (torch.randn(shape).mul(2).add(1).to(dtype) for shape in _SHAPES)


def _statistics(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    wide = x.double().transpose(0, 1).flatten(1)
    wanted = torch.float64 if x.dtype is torch.float64 else torch.float32
    return wide.mean(1).to(wanted), (wide.var(1, correction=0) + _EPS).rsqrt().to(wanted)


def _parameters(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    wanted = torch.float64 if x.dtype is torch.float64 else torch.float32
    return torch.randn(x.shape[1], dtype=wanted), torch.randn(x.shape[1], dtype=wanted)


def _running(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    mean, var = _parameters(x)
    return mean, var.abs() + 0.5


@handmade("aten.batch_norm_stats.default")
def stats(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield inputs of two to five dimensions."""
    for x in _inputs(dtype):
        yield call(x, _EPS)


@handmade("aten.batch_norm_elemt.default")
def elemt(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield inputs with their statistics, with weight and bias and without."""
    for x in _inputs(dtype):
        yield call(x, *_parameters(x), *_statistics(x), _EPS)
        yield call(x, None, None, *_statistics(x), _EPS)


def _merged(x: torch.Tensor) -> list[torch.Tensor]:
    parts = [_statistics(x + number) for number in range(_PROCESSES)]
    return [torch.stack(kind) for kind in zip(*parts, strict=True)]


@handmade("aten.batch_norm_gather_stats_with_counts.default")
def gather_stats_with_counts(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the statistics of four processes with unequal counts."""
    for x in _inputs(dtype):
        mean, invstd = _merged(x)
        counts = (torch.arange(_PROCESSES) + 7).to(mean.dtype)
        yield call(x, mean, invstd, *_running(x), _MOMENTUM, _EPS, counts)
        yield call(x, mean, invstd, None, None, _MOMENTUM, _EPS, counts)


@handmade("aten.batch_norm_gather_stats.default")
def gather_stats(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the statistics of four processes with the same count."""
    for x in _inputs(dtype):
        mean, invstd = _merged(x)
        yield call(x, mean, invstd, *_running(x), _MOMENTUM, _EPS, 6)
        yield call(x, mean, invstd, None, None, _MOMENTUM, _EPS, 6)


@handmade("aten.batch_norm_backward_reduce.default")
def backward_reduce(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients with all sums asked for, and with some."""
    for x in _inputs(dtype):
        for asked in ((True, True, True), (True, False, True), (False, True, False)):
            weight = _parameters(x)[0] if asked[1] else None
            yield call(torch.randn_like(x), x, *_statistics(x), weight, *asked)


@handmade("aten.batch_norm_backward_elemt.default")
def backward_elemt(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients with the sums of two processes."""
    for x in _inputs(dtype):
        count = torch.full((2,), x.numel() // x.shape[1], dtype=torch.int32)
        for weight in (_parameters(x)[0], None):
            yield call(torch.randn_like(x), x, *_statistics(x), weight, *_parameters(x), count)


@handmade("aten.batch_norm_update_stats.default")
def update_stats(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield inputs with running statistics and without."""
    for x in _inputs(dtype):
        yield call(x, *_running(x), _MOMENTUM)
        yield call(x, None, None, _MOMENTUM)


@handmade("aten._batch_norm_with_update.default", "aten._batch_norm_with_update_functional.default")
def with_update(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield inputs with running statistics, with weight and bias and without."""
    for x in _inputs(dtype):
        yield call(x, *_parameters(x), *_running(x), _MOMENTUM, _EPS)
        yield call(x, None, None, *_running(x), _MOMENTUM, _EPS)


@handmade("aten.batch_norm_backward.default")
def backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients in training and in evaluation, all asked for and some."""
    for x in _inputs(dtype):
        for training, asked in ((True, (True, True, True)), (False, (True, False, True))):
            reserve = torch.empty(0, dtype=torch.uint8)
            given = (*_running(x), *_statistics(x), training, _EPS, list(asked), reserve)
            yield call(torch.randn_like(x), x, _parameters(x)[0], *given)
