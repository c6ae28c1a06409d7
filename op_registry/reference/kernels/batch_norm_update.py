"""Batch norm's newer ops, over those that torch-tpu has, and the update of running statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels.sync_batch_norm import moments

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "definition, as in torch's Normalization.cpp"
_ACCURACY = "that of torch-tpu's native batch norm"


def _reserve(x: torch.Tensor) -> torch.Tensor:
    """Return the empty buffer that only cuDNN fills."""
    return torch.empty(0, dtype=torch.uint8, device=x.device)


@kernel("aten._batch_norm_with_update.default", source=_SOURCE, accuracy=_ACCURACY)
def batch_norm_with_update(
    input: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return ``input`` (N, C, ...) normalised, mean, inverse deviation (C) and an empty buffer.

    ``running_mean`` and ``running_var`` (C) are updated in place.
    """
    given = (input, weight, bias, running_mean, running_var)
    out, mean, invstd, new_mean, new_var = _functional(*given, momentum, eps)
    running_mean.copy_(new_mean)
    running_var.copy_(new_var)
    return out, mean, invstd, _reserve(input)


@kernel(
    "aten._batch_norm_with_update_functional.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    needs=("aten.batch_norm_backward.default",),
)
def batch_norm_with_update_functional(
    input: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Do what ``batch_norm_with_update`` does, and return the new running statistics instead."""
    given = (input, weight, bias, running_mean, running_var)
    out, mean, invstd, new_mean, new_var = _functional(*given, momentum, eps)
    return out, mean, invstd, _reserve(input), new_mean, new_var


def _functional(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor, ...]:
    running, training = (running_mean, running_var), True
    out, mean, invstd, *new = torch.ops.aten._native_batch_norm_legit_functional(
        x, weight, bias, *running, training, momentum, eps
    )
    return out, mean.to(running_mean.dtype), invstd.to(running_mean.dtype), *new


@kernel("aten.batch_norm_backward.default", source=_SOURCE, accuracy=_ACCURACY)
def batch_norm_backward(
    grad_out: torch.Tensor,
    input: torch.Tensor,
    weight: torch.Tensor,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    save_mean: torch.Tensor | None,
    save_var: torch.Tensor | None,
    update: bool,
    eps: float,
    output_mask: Sequence[bool],
    reserve: torch.Tensor,
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]:
    """Return the gradients of ``input`` (N, C, ...), ``weight`` and bias (C), as far as asked for.

    ``save_var`` is what the forward returned: 1 / sqrt(variance + ``eps``).
    """
    del reserve
    stats = (running_mean, running_var, save_mean, save_var)
    found: tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]
    found = torch.ops.aten.native_batch_norm_backward(
        grad_out, input, weight, *stats, update, eps, output_mask
    )
    return found


@kernel(
    "aten.batch_norm_update_stats.default",
    source=_SOURCE,
    accuracy="rounding of f32 sums; writes the running statistics, if given, into its arguments",
    changes=True,
)
def batch_norm_update_stats(
    input: torch.Tensor,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    momentum: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return mean and variance of each channel of ``input`` (N, C, ...), (C) each.

    The variance is divided by the number of elements; ``running_var`` moves towards the one that is
    divided by one less. ``running_mean`` and ``running_var`` (C) change in place.
    """
    mean, variance = moments(input)
    count = input.numel() // max(1, input.shape[1])
    if running_mean is not None:
        running_mean.copy_((1 - momentum) * running_mean + momentum * mean)
    if running_var is not None:
        unbiased = variance * (count / max(1, count - 1))
        running_var.copy_((1 - momentum) * running_var + momentum * unbiased)
    dtype = input.dtype if running_mean is None else running_mean.dtype
    return mean.to(dtype), variance.to(dtype)
