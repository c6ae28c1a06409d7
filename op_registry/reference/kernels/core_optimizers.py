"""One step of the fused optimizers, parameter by parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._vjp import wide

if TYPE_CHECKING:
    from collections.abc import Sequence

_ACCURACY = "rounding of elementwise float32, in another order than eager's"
_TOLERANCE = 4.0
_NAN = "whether NaN is the larger of two is not defined for amsgrad"


def _skipped(old: torch.Tensor, new: torch.Tensor, found_inf: torch.Tensor | None) -> torch.Tensor:
    """Return ``new``, or ``old`` when the gradients overflowed, which makes the step none."""
    new = new.to(old.dtype)
    return new if found_inf is None else torch.where(found_inf.reshape(()) != 0, old, new)


def _gradient(grad: torch.Tensor, scale: torch.Tensor | None, *, maximize: bool) -> torch.Tensor:
    """Return the gradient to go down by, in float32 at least; unscaled, it is written back."""
    value = wide(grad)
    if scale is not None:
        value = value / scale
        grad.copy_(value)
    return -value if maximize else value


def _adam(
    self: Sequence[torch.Tensor],
    grads: Sequence[torch.Tensor],
    exp_avgs: Sequence[torch.Tensor],
    exp_avg_sqs: Sequence[torch.Tensor],
    max_exp_avg_sqs: Sequence[torch.Tensor],
    state_steps: Sequence[torch.Tensor],
    lr: float | torch.Tensor,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
    amsgrad: bool,
    maximize: bool,
    grad_scale: torch.Tensor | None,
    found_inf: torch.Tensor | None,
    *,
    decoupled: bool,
) -> None:
    for place, parameter in enumerate(self):
        grad = _gradient(grads[place], grad_scale, maximize=maximize)
        weight, step = wide(parameter), state_steps[place]
        if decoupled:
            weight = weight * (1 - lr * weight_decay)
        else:
            grad = grad + weight_decay * weight
        first = beta1 * wide(exp_avgs[place]) + (1 - beta1) * grad
        second = beta2 * wide(exp_avg_sqs[place]) + (1 - beta2) * grad * grad
        largest = second
        if amsgrad:
            largest = torch.maximum(wide(max_exp_avg_sqs[place]), second)
            max_exp_avg_sqs[place].copy_(_skipped(max_exp_avg_sqs[place], largest, found_inf))
        size = (largest / (1 - beta2**step)).sqrt() + eps
        weight = weight - lr / (1 - beta1**step) * first / size
        parameter.copy_(_skipped(parameter, weight, found_inf))
        exp_avgs[place].copy_(_skipped(exp_avgs[place], first, found_inf))
        exp_avg_sqs[place].copy_(_skipped(exp_avg_sqs[place], second, found_inf))


@kernel(
    "aten._fused_adam_.default",
    "aten._fused_adam_.tensor_lr",
    source="Kingma & Ba, Adam (2015); amsgrad of Reddi et al. (2018)",
    accuracy=_ACCURACY,
    tolerance=_TOLERANCE,
    nonfinite=_NAN,
)
def fused_adam_(
    self: Sequence[torch.Tensor],
    grads: Sequence[torch.Tensor],
    exp_avgs: Sequence[torch.Tensor],
    exp_avg_sqs: Sequence[torch.Tensor],
    max_exp_avg_sqs: Sequence[torch.Tensor],
    state_steps: Sequence[torch.Tensor],
    *,
    lr: float | torch.Tensor,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
    amsgrad: bool,
    maximize: bool,
    grad_scale: torch.Tensor | None = None,
    found_inf: torch.Tensor | None = None,
) -> None:
    """Step every parameter of ``self`` and its averages; ``state_steps`` count this step already.

    Weight decay is added to the gradient.
    """
    state = (self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps)
    betas, switches = (beta1, beta2, weight_decay, eps), (amsgrad, maximize)
    _adam(*state, lr, *betas, *switches, grad_scale, found_inf, decoupled=False)


@kernel(
    "aten._fused_adamw_.default",
    "aten._fused_adamw_.tensor_lr",
    source="Loshchilov & Hutter, decoupled weight decay (2019)",
    accuracy=_ACCURACY,
    tolerance=_TOLERANCE,
    nonfinite=_NAN,
)
def fused_adamw_(
    self: Sequence[torch.Tensor],
    grads: Sequence[torch.Tensor],
    exp_avgs: Sequence[torch.Tensor],
    exp_avg_sqs: Sequence[torch.Tensor],
    max_exp_avg_sqs: Sequence[torch.Tensor],
    state_steps: Sequence[torch.Tensor],
    *,
    lr: float | torch.Tensor,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
    amsgrad: bool,
    maximize: bool,
    grad_scale: torch.Tensor | None = None,
    found_inf: torch.Tensor | None = None,
) -> None:
    """Do what ``fused_adam_`` does, but let weights decay by themselves."""
    state = (self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps)
    betas, switches = (beta1, beta2, weight_decay, eps), (amsgrad, maximize)
    _adam(*state, lr, *betas, *switches, grad_scale, found_inf, decoupled=True)


@kernel(
    "aten._fused_sgd_.default",
    "aten._fused_sgd_.tensor_lr",
    source="definition; Nesterov's momentum as in Sutskever et al. (2013)",
    accuracy=_ACCURACY,
    tolerance=_TOLERANCE,
)
def fused_sgd_(
    self: Sequence[torch.Tensor],
    grads: Sequence[torch.Tensor],
    momentum_buffer_list: Sequence[torch.Tensor],
    *,
    weight_decay: float,
    momentum: float,
    lr: float | torch.Tensor,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: torch.Tensor | None = None,
    found_inf: torch.Tensor | None = None,
) -> None:
    """Step every parameter of ``self`` and its momentum, which starts as the first gradient."""
    for place, parameter in enumerate(self):
        weight = wide(parameter)
        step = _gradient(grads[place], grad_scale, maximize=maximize) + weight_decay * weight
        if momentum:
            buffer = momentum_buffer_list[place]
            moved = step
            if not is_first_step:
                moved = momentum * wide(buffer) + (1 - dampening) * step
            buffer.copy_(_skipped(buffer, moved, found_inf))
            step = step + momentum * moved if nesterov else moved
        parameter.copy_(_skipped(parameter, weight - lr * step, found_inf))


@kernel(
    "aten._fused_adagrad_.default",
    "aten._fused_adagrad_.tensor_lr",
    source="Duchi et al., adaptive subgradient methods (2011)",
    accuracy=_ACCURACY,
    tolerance=_TOLERANCE,
)
def fused_adagrad_(
    self: Sequence[torch.Tensor],
    grads: Sequence[torch.Tensor],
    state_sums: Sequence[torch.Tensor],
    state_steps: Sequence[torch.Tensor],
    *,
    lr: float | torch.Tensor,
    lr_decay: float,
    weight_decay: float,
    eps: float,
    maximize: bool,
    grad_scale: torch.Tensor | None = None,
    found_inf: torch.Tensor | None = None,
) -> None:
    """Step every parameter of ``self`` and its sum of squares; steps count this one already."""
    for place, parameter in enumerate(self):
        weight = wide(parameter)
        grad = _gradient(grads[place], grad_scale, maximize=maximize) + weight_decay * weight
        total = wide(state_sums[place]) + grad * grad
        rate = lr / (1 + (state_steps[place] - 1) * lr_decay)
        weight = weight - rate * grad / (total.sqrt() + eps)
        parameter.copy_(_skipped(parameter, weight, found_inf))
        state_sums[place].copy_(_skipped(state_sums[place], total, found_inf))
