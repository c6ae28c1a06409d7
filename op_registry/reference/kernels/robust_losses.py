"""Losses that are quadratic near zero: ``smooth_l1_loss``, ``huber_loss``, mean squared error."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import computed_in, result_type
from op_registry.reference.kernels._reduction import MEAN, reduced, share

_ROUNDING = "float32 rounding; 16-bit types are computed in float32 and rounded once"


@kernel("aten.smooth_l1_loss.default", source="definition (Fast R-CNN)", accuracy=_ROUNDING)
def smooth_l1_loss(
    self: torch.Tensor, target: torch.Tensor, reduction: int = MEAN, beta: float = 1.0
) -> torch.Tensor:
    """Return the smooth L1 loss of two tensors that broadcast, reduced.

    ``0.5 * d * d / beta`` where the distance d is below ``beta``, else ``d - 0.5 * beta``.
    """
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    dtype, distance = _distance(self, target)
    loss = torch.where(
        distance < beta,
        0.5 * distance * distance / beta if beta else distance,
        distance - 0.5 * beta,
    )
    return reduced(loss.to(dtype), reduction)


@kernel("aten.smooth_l1_loss_backward.default", source="derivative", accuracy=_ROUNDING)
def smooth_l1_loss_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    target: torch.Tensor,
    reduction: int,
    beta: float,
) -> torch.Tensor:
    """Return the gradient with regard to ``self``: ``grad_output`` times a clipped difference."""
    dtype, grad, difference = _pulled(grad_output, self, target, reduction)
    inside = difference * grad / beta if beta else difference
    return _clipped(difference, beta, -grad, inside, grad).to(dtype)


@kernel("aten.huber_loss.default", source="definition (Huber 1964)", accuracy=_ROUNDING)
def huber_loss(
    self: torch.Tensor, target: torch.Tensor, reduction: int = MEAN, delta: float = 1.0
) -> torch.Tensor:
    """Return the Huber loss of two tensors that broadcast, reduced.

    ``0.5 * d * d`` where the distance d is below ``delta``, else ``delta * (d - 0.5 * delta)``.
    """
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    dtype, distance = _distance(self, target)
    loss = torch.where(
        distance < delta, 0.5 * distance * distance, delta * (distance - 0.5 * delta)
    )
    return reduced(loss.to(dtype), reduction)


@kernel(
    "aten.huber_loss_backward.default",
    source="derivative",
    accuracy=f"{_ROUNDING}; its own gradient sums such rounded values, which may cancel",
    tolerance=1.5,
)
def huber_loss_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    target: torch.Tensor,
    reduction: int,
    delta: float,
) -> torch.Tensor:
    """Return the gradient with regard to ``self``: ``grad_output`` times a clipped difference."""
    dtype, grad, difference = _pulled(grad_output, self, target, reduction)
    edge = grad * delta
    return _clipped(difference, delta, -edge, difference * grad, edge).to(dtype)


@kernel("aten.mse_loss_backward.default", source="derivative", accuracy=_ROUNDING)
def mse_loss_backward(
    grad_output: torch.Tensor, self: torch.Tensor, target: torch.Tensor, reduction: int
) -> torch.Tensor:
    """Return the gradient of the squared difference with regard to ``self``."""
    dtype, grad, difference = _pulled(grad_output, self, target, reduction)
    return (2.0 * difference * grad).to(dtype)


def _distance(self: torch.Tensor, target: torch.Tensor) -> tuple[torch.dtype, torch.Tensor]:
    dtype = result_type(self, target)
    wide = computed_in(dtype)
    return dtype, (self.to(wide) - target.to(wide)).abs()


def _pulled(
    grad_output: torch.Tensor, self: torch.Tensor, target: torch.Tensor, reduction: int
) -> tuple[torch.dtype, torch.Tensor, torch.Tensor]:
    """Return the result's dtype, the gradient of one loss, and the difference."""
    dtype = result_type(self, target, grad_output)
    wide = computed_in(dtype)
    grad = grad_output.to(wide) * share(reduction, self.numel())
    return dtype, grad, self.to(wide) - target.to(wide)


def _clipped(
    difference: torch.Tensor,
    edge: float,
    below: torch.Tensor,
    inside: torch.Tensor,
    above: torch.Tensor,
) -> torch.Tensor:
    """Return ``below`` up to -``edge``, ``above`` from ``edge`` on, else and for NaN ``inside``."""
    return torch.where(difference <= -edge, below, torch.where(difference >= edge, above, inside))
