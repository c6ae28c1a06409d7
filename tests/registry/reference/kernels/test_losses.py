"""Losses: edges of their arguments that torch's own inputs do not reach."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from op_registry.reference.kernels.margin_losses import (
    multi_margin_loss,
    multilabel_margin_loss_backward,
    multilabel_margin_loss_forward,
)
from op_registry.reference.kernels.robust_losses import (
    huber_loss,
    smooth_l1_loss,
    smooth_l1_loss_backward,
)


def test_no_quadratic_part_is_the_distance() -> None:
    """With beta 0 the smooth L1 loss is the L1 loss, and its gradient the sign."""
    x, y = torch.tensor([1.0, -2.0, 0.5]), torch.tensor([0.5, 0.0, 0.5])
    assert torch.equal(smooth_l1_loss(x, y, 0, 0.0), torch.tensor([0.5, 2.0, 0.0]))
    found = smooth_l1_loss_backward(torch.ones(()), x, y, 2, 0.0)
    assert torch.equal(found[:2], torch.tensor([1.0, -1.0]))


def test_a_difference_at_the_edge_is_linear_there() -> None:
    """At exactly delta both branches agree in value; the gradient is that of the line."""
    grad = smooth_l1_loss_backward(torch.ones(1), torch.ones(1), torch.zeros(1), 0, 1.0)
    assert float(grad) == 1.0
    assert float(huber_loss(torch.full((1,), 2.0), torch.zeros(1), 0, 2.0)) == 2.0


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda x: smooth_l1_loss(x, x, 1, -1.0), "negative values for beta"),
        (lambda x: huber_loss(x, x, 1, 0.0), "non-positive values for delta"),
        (lambda x: multi_margin_loss(x, torch.tensor([0]), p=3), "only p == 1 and p == 2"),
        (lambda x: multi_margin_loss(x, torch.tensor([0, 1])), "inconsistent target size"),
    ],
)
def test_wrong_arguments_are_refused(call: object, told: str) -> None:
    """They are named in eager's words."""
    assert callable(call)
    with pytest.raises(RuntimeError, match=told):
        call(torch.zeros(1, 3))


def test_what_follows_the_first_negative_class_is_not_listed() -> None:
    """The list of classes ends there, even if classes follow."""
    x = torch.tensor([[0.1, 0.2, 0.4, 0.8]])
    one, longer = torch.tensor([[3, -1, 0, 1]]), torch.tensor([[3, -1, -1, -1]])
    loss, marks = multilabel_margin_loss_forward(x, one, 1)
    assert torch.equal(loss, functional.multilabel_margin_loss(x, longer))
    assert marks.tolist() == [[0, 0, 0, 1]]


def test_a_class_listed_twice_counts_twice() -> None:
    """Loss and gradient are eager's for a list with a repetition."""
    x = torch.tensor([[0.3, 0.1, 0.2]], requires_grad=True)
    target = torch.tensor([[1, 1, -1]])
    eager = functional.multilabel_margin_loss(x, target)
    eager.backward()
    loss, marks = multilabel_margin_loss_forward(x.detach(), target, 1)
    grad = multilabel_margin_loss_backward(torch.ones(()), x.detach(), target, 1, marks)
    torch.testing.assert_close(loss, eager.detach())
    torch.testing.assert_close(grad, x.grad)
