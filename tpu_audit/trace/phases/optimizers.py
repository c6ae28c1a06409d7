"""What ends a training step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch.optim import Optimizer

    Parameters = Sequence[torch.nn.Parameter]

_RATE = 1e-4


def _adamw(parameters: Parameters) -> Optimizer:
    return torch.optim.AdamW(parameters, lr=_RATE, foreach=True)


def _adamw_fused(parameters: Parameters) -> Optimizer:
    return torch.optim.AdamW(parameters, lr=_RATE, fused=True)


def _adamw_loop(parameters: Parameters) -> Optimizer:
    return torch.optim.AdamW(parameters, lr=_RATE, foreach=False, fused=False)


def _sgd(parameters: Parameters) -> Optimizer:
    return torch.optim.SGD(parameters, lr=_RATE, momentum=0.9, foreach=True)


def _adafactor(parameters: Parameters) -> Optimizer:
    return torch.optim.Adafactor(parameters, foreach=True)


OPTIMIZERS: Mapping[str, Callable[[Parameters], Optimizer]] = {
    "adamw": _adamw,
    "adamw-fused": _adamw_fused,
    "adamw-loop": _adamw_loop,
    "sgd": _sgd,
    "adafactor": _adafactor,
}
"""Name of a setting -> the optimizer, without state yet: its first step makes that.

The implementation is asked for by name, because torch's default depends on the tensors' class,
and that of fakes is none it knows.
"""
