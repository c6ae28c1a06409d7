"""Forward and backward of a call in one."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from op_registry.build.samples.handmade.declare import call
from op_registry.verify.joint import LOST, GradientLostError, Joint, OtherShapeError, joint

_ATEN = torch.ops.aten
_YES, _NO = True, False


def test_it_gives_outputs_then_gradients() -> None:
    """The gradients are those of torch.autograd.grad for the same cotangent."""
    left, right = torch.rand(2, 3), torch.rand(3, 4)
    made = joint(_ATEN.mm.default, call(left, right))
    assert made is not None
    func, sample = made
    out, *gradients = func(*sample.args)
    leaves = [left.clone().requires_grad_(), right.clone().requires_grad_()]
    wanted = torch.autograd.grad(leaves[0] @ leaves[1], leaves, sample.args[-1])
    assert torch.equal(out, left @ right)
    assert all(map(torch.allclose, gradients, wanted))


def test_cotangents_differ_from_element_to_element() -> None:
    """With equal cotangents a softmax would have no gradient to compare."""
    made = joint(_ATEN._softmax.default, call(torch.rand(3, 4), -1, _NO))
    assert made is not None
    func, sample = made
    assert func(*sample.args)[1].abs().max() > 1e-3


def test_arguments_that_may_not_require_a_gradient_get_none() -> None:
    """Running statistics are left aside; weight, bias and input are differentiated."""
    ones = [torch.ones(3) for _ in range(4)]
    sample = call(torch.randn(4, 3, 2), *ones, _YES, 0.1, 1e-5)
    made = joint(_ATEN.native_batch_norm.default, sample)
    assert made is not None
    func, with_cotangents = made
    shapes = [tuple(one.shape) for one in func(*with_cotangents.args)[-3:]]
    assert shapes == [(4, 3, 2), (3,), (3,)]


@pytest.mark.parametrize(
    ("func", "sample"),
    [
        (_ATEN.argmax.default, call(torch.rand(3))),
        (_ATEN.bitwise_not.default, call(torch.ones(3, dtype=torch.int64))),
        (_ATEN.add.out, call(torch.ones(2), torch.ones(2), out=torch.ones(2))),
        (_ATEN.mm.default, call(torch.ones(2, 3), torch.ones(2, 3))),
    ],
)
def test_what_has_no_gradient_is_left_out(func: Any, sample: Any) -> None:
    """Indices, whole numbers, out= forms and calls that raise give nothing to lower."""
    assert joint(func, sample) is None


class _Detaching:
    """Stands for a kernel below autograd's sight."""

    _schema = _ATEN.exp.default._schema

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x.detach().exp()


class _Ignoring(_Detaching):
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        del x
        return torch.ones(3, requires_grad=True).exp()


@pytest.mark.parametrize("func", [_Detaching(), _Ignoring()])
def test_a_gradient_that_does_not_arrive_is_lost(func: Any) -> None:
    """A detached output and an argument without a gradient are told from a refusal."""
    with pytest.raises(GradientLostError, match=LOST):
        Joint(func, (0,), (0,))(torch.rand(3), [torch.ones(3)])


def test_an_output_of_another_shape_is_told() -> None:
    """A cotangent that does not fit is the output's fault, and said so."""
    func = Joint(_ATEN.exp.default, (0,), (0,))
    with pytest.raises(OtherShapeError, match=r"result 0 .*: \[3\] and \[2\]"):
        func(torch.rand(3), [torch.ones(2)])
