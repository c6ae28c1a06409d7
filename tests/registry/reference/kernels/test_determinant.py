"""Determinants where torch's own inputs do not go: singular matrices and Hessians."""

from __future__ import annotations

import torch

from op_registry.reference.kernels.determinant import linalg_det, linalg_slogdet, logdet

SINGULAR = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.5, 1.0, 2.0]])


def test_singular_matrices() -> None:
    """They have determinant 0, sign 0 and logarithm -inf."""
    assert linalg_det(SINGULAR) == 0
    sign, logabsdet = linalg_slogdet(SINGULAR)
    assert (sign.item(), logabsdet.item()) == (0.0, -torch.inf)
    assert logdet(SINGULAR) == -torch.inf
    assert logdet(torch.diag(torch.tensor([1.0, -1.0]))).isnan()


def test_gradient_where_a_pivot_is_zero() -> None:
    """It is finite, and eager's."""
    ours, theirs = SINGULAR.clone().requires_grad_(), SINGULAR.clone().requires_grad_()
    linalg_det(ours).backward()
    torch.linalg.det(theirs).backward()
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_second_derivatives() -> None:
    """The gradient is made of differentiable ops: a Hessian comes out right."""
    matrix = torch.randn(3, 3, generator=torch.manual_seed(0), dtype=torch.float64)
    matrix.requires_grad_()
    assert torch.autograd.gradgradcheck(linalg_det, matrix)
    assert torch.autograd.gradgradcheck(lambda a: linalg_slogdet(a)[1], matrix)
