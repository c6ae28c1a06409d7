"""Samples of the optimizers' fused ops: plain, with momentum, with their rarer switches."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_SHAPES = ((3, 4), (5,))
_SWITCHES = tuple(itertools.product((False, True), repeat=2))


def _lists(dtype: torch.dtype, count: int) -> list[list[torch.Tensor]]:
    """Return lists of parameters, gradients and the like, the last ones not negative."""
    made = [[torch.randn(shape).to(dtype) for shape in _SHAPES] for _ in range(count)]
    return [*made[:2], *([one.abs() for one in state] for state in made[2:])]


def _steps() -> list[torch.Tensor]:
    return [torch.tensor(2.0) for _ in _SHAPES]


def _with_scaler(rates: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the keywords without a gradient scaler, and with one that found no overflow."""
    yield rates
    yield rates | {"grad_scale": torch.tensor(8.0), "found_inf": torch.tensor(0.0)}


def _adam(dtype: torch.dtype, rate: float | torch.Tensor) -> Iterator[Sample]:
    if not dtype.is_floating_point:
        return
    for amsgrad, maximize in _SWITCHES:
        rates = {"lr": rate, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-6}
        for keywords in _with_scaler({**rates, "amsgrad": amsgrad, "maximize": maximize}):
            *given, largest = _lists(dtype, 5)
            yield call(*given, largest if amsgrad else [], _steps(), **keywords)


@handmade("aten._fused_adam_.default", "aten._fused_adamw_.default")
def adam(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield steps with and without amsgrad, maximising, under a gradient scaler."""
    yield from _adam(dtype, 0.01)


@handmade("aten._fused_adam_.tensor_lr", "aten._fused_adamw_.tensor_lr")
def adam_with_tensor_rate(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same with the learning rate in a tensor."""
    yield from _adam(dtype, torch.tensor(0.01))


def _sgd(dtype: torch.dtype, rate: float | torch.Tensor) -> Iterator[Sample]:
    if not dtype.is_floating_point:
        return
    for (nesterov, maximize), momentum, first in itertools.product(
        _SWITCHES, (0.9, 0.0), (False, True)
    ):
        if momentum == 0 and (nesterov or first):
            continue
        parameters, gradients, buffers = _lists(dtype, 3)
        yield call(
            parameters,
            gradients,
            buffers if momentum else [],
            weight_decay=0.1,
            momentum=momentum,
            lr=rate,
            dampening=0.0 if nesterov else 0.2,
            nesterov=nesterov,
            maximize=maximize,
            is_first_step=first,
        )


@handmade("aten._fused_sgd_.default")
def sgd(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield steps with and without momentum, the first and later ones."""
    yield from _sgd(dtype, 0.01)


@handmade("aten._fused_sgd_.tensor_lr")
def sgd_with_tensor_rate(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same with the learning rate in a tensor."""
    yield from _sgd(dtype, torch.tensor(0.01))


def _adagrad(dtype: torch.dtype, rate: float | torch.Tensor) -> Iterator[Sample]:
    for maximize, decay in itertools.product((False, True), (0.0, 0.1)):
        if dtype.is_floating_point:
            rates = {"lr": rate, "lr_decay": decay, "weight_decay": 0.1, "eps": 1e-6}
            yield call(*_lists(dtype, 3), _steps(), **rates, maximize=maximize)


@handmade("aten._fused_adagrad_.default")
def adagrad(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield steps with and without decay, maximising."""
    yield from _adagrad(dtype, 0.01)


@handmade("aten._fused_adagrad_.tensor_lr")
def adagrad_with_tensor_rate(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same with the learning rate in a tensor."""
    yield from _adagrad(dtype, torch.tensor(0.01))


@handmade(
    "aten._foreach_addcdiv.Tensor",
    "aten._foreach_addcdiv_.Tensor",
    "aten._foreach_addcmul.Tensor",
    "aten._foreach_addcmul_.Tensor",
)
def pointwise(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield lists with a factor for each of their tensors."""
    if dtype is torch.bool:
        return
    for shapes in (_SHAPES, _SHAPES[:1]):
        lists = [[torch.rand(shape).add(1).to(dtype) for shape in shapes] for _ in range(3)]
        yield call(*lists, torch.arange(1, len(shapes) + 1).to(dtype))
