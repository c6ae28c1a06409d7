"""Losses that ask for a margin between classes: ``multi_margin_loss`` and its kin."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import computed_in
from op_registry.reference.kernels._reduction import MEAN, NONE, reduced, share

_ROUNDING = "rounding of a sum over classes; classes out of range are not reported"


@kernel("aten.multi_margin_loss.default", source="definition", accuracy=_ROUNDING)
def multi_margin_loss(
    self: torch.Tensor,
    target: torch.Tensor,
    p: float = 1,
    margin: float = 1,
    weight: torch.Tensor | None = None,
    reduction: int = MEAN,
) -> torch.Tensor:
    """Return the multi-class margin loss of ``self`` (batch, classes) or (classes), reduced.

    The loss of a row is the mean over the other classes of ``max(0, margin - x[target] + x)`` to
    the power ``p`` (1 or 2), times ``weight[target]``; all classes count in the mean.
    """
    rows, classes = _margin_arguments(self, target, p, weight)
    gap, weights = _gaps(rows, classes, margin, weight)
    loss = (gap**p * weights).sum(1) / rows.shape[1]
    if reduction == NONE:
        return loss.reshape(target.shape).to(self.dtype)
    return reduced(loss, reduction).to(self.dtype)


@kernel("aten.multi_margin_loss_backward.default", source="derivative", accuracy=_ROUNDING)
def multi_margin_loss_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    target: torch.Tensor,
    p: float,
    margin: float,
    weight: torch.Tensor | None = None,
    reduction: int = MEAN,
) -> torch.Tensor:
    """Return the gradient with regard to ``self``.

    It is positive for classes that come too near; the target's is minus the sum of the others.
    """
    rows, classes = _margin_arguments(self, target, p, weight)
    gap, weights = _gaps(rows, classes, margin, weight)
    slope = (gap > 0).to(rows.dtype) if p == 1 else 2 * gap
    slope = slope * weights * (share(reduction, rows.shape[0]) / rows.shape[1])
    pulled = torch.where(_is_class(rows, classes), -slope.sum(1, keepdim=True), slope)
    return (pulled * _by_row(grad_output)).reshape(self.shape).to(self.dtype)


@kernel("aten.multilabel_margin_loss_forward.default", source="definition", accuracy=_ROUNDING)
def multilabel_margin_loss_forward(
    self: torch.Tensor, target: torch.Tensor, reduction: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss and which classes are targets (1 or 0, shaped like ``target``).

    ``target`` lists the classes of a row; the list ends before the first negative number. The loss
    of a row of ``self`` (batch, classes) or (classes) is the sum of ``max(0, 1 - x[t] + x[c])``
    over its targets t and all other classes c, divided by the number of classes.
    """
    rows, listed, valid = _label_arguments(self, target)
    is_target = _marked(listed, valid)
    counts = valid.unsqueeze(2) & is_target.logical_not().unsqueeze(1)
    gap = torch.where(counts, _positive(_pairs(rows, listed)), 0)
    loss = gap.sum((1, 2)) / rows.shape[1]
    marks = is_target.reshape(target.shape).to(self.dtype)
    if reduction == NONE:
        return (loss if target.dim() > 1 else loss.sum()).to(self.dtype), marks
    return reduced(loss, reduction).to(self.dtype), marks


@kernel("aten.multilabel_margin_loss_backward.default", source="derivative", accuracy=_ROUNDING)
def multilabel_margin_loss_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    target: torch.Tensor,
    reduction: int,
    is_target: torch.Tensor,
) -> torch.Tensor:
    """Return the gradient with regard to ``self``.

    Each pair of a target and another class that comes too near is pulled apart.
    """
    rows, listed, valid = _label_arguments(self, target)
    other = is_target.reshape(rows.shape) == 0
    near = valid.unsqueeze(2) & other.unsqueeze(1) & (_pairs(rows, listed) > 0)
    near = near.to(rows.dtype) * (share(reduction, rows.shape[0]) / rows.shape[1])
    pulled = near.sum(1).scatter_add(1, listed.clamp(min=0), -near.sum(2))
    return (pulled * _by_row(grad_output)).reshape(self.shape).to(self.dtype)


def _margin_arguments(
    self: torch.Tensor, target: torch.Tensor, p: float, weight: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    if p not in {1, 2}:
        raise RuntimeError("only p == 1 and p == 2 supported")
    _check_rows(self)
    rows = self.reshape(1, -1) if self.dim() < 2 else self
    if target.dim() > 1 or target.numel() != rows.shape[0]:
        raise RuntimeError(f"inconsistent target size, expected {rows.shape[0]} classes")
    if weight is not None and (weight.dim() > 1 or weight.numel() != rows.shape[1]):
        raise RuntimeError(f"inconsistent weight size, expected {rows.shape[1]} weights")
    return rows.to(computed_in(self.dtype)), target.reshape(-1, 1)


def _gaps(
    rows: torch.Tensor, classes: torch.Tensor, margin: float, weight: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor | float]:
    """Return how much nearer than ``margin`` each other class comes, and the weight of each row."""
    gap = _positive(margin - rows.gather(1, classes) + rows)
    gap = torch.where(_is_class(rows, classes), 0, gap)
    if weight is None:
        return gap, 1.0
    weights = weight.reshape(-1).to(rows.dtype).index_select(0, classes.reshape(-1))
    return gap, weights.unsqueeze(1)


def _positive(gap: torch.Tensor) -> torch.Tensor:
    """Return ``gap`` where it is positive, else 0, for NaN too."""
    return torch.where(gap > 0, gap, 0)


def _is_class(rows: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    return torch.arange(rows.shape[1], device=rows.device) == classes


def _label_arguments(
    self: torch.Tensor, target: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return both as matrices, and which entries of ``target`` come before the first negative."""
    _check_rows(self)
    if target.shape != self.shape:
        raise RuntimeError(f"inconsistent target size: {target.shape} for input {self.shape}")
    rows = (self.reshape(1, -1) if self.dim() < 2 else self).to(computed_in(self.dtype))
    listed = target.reshape(rows.shape)
    places = torch.arange(rows.shape[1], device=rows.device).expand_as(listed)
    end = torch.where(listed < 0, places, rows.shape[1]).amin(1, keepdim=True)
    return rows, listed, places < end


def _pairs(rows: torch.Tensor, listed: torch.Tensor) -> torch.Tensor:
    """Return ``1 - x[target] + x[class]`` as (rows, targets, classes)."""
    return 1 - rows.gather(1, listed.clamp(min=0)).unsqueeze(2) + rows.unsqueeze(1)


def _marked(listed: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
    """Return which classes are among the valid ones listed, as (rows, classes)."""
    classes = torch.arange(listed.shape[1], device=listed.device)
    return ((listed.unsqueeze(2) == classes) & valid.unsqueeze(2)).any(1)


def _by_row(grad_output: torch.Tensor) -> torch.Tensor:
    return grad_output.to(computed_in(grad_output.dtype)).reshape(-1, 1)


def _check_rows(self: torch.Tensor) -> None:
    if self.dim() > 2 or (self.dim() > 0 and self.shape[-1] == 0):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{self.shape}"
        )
