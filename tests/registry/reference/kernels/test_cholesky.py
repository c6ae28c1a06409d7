"""Cholesky where torch's own inputs do not go: blocks, matrices that have no factor, Hessians."""

from __future__ import annotations

import torch

from op_registry.reference.kernels.cholesky import linalg_cholesky, linalg_cholesky_ex


def _positive(n: int, *batch: int) -> torch.Tensor:
    factor = torch.randn(*batch, n, n, generator=torch.manual_seed(0), dtype=torch.float64)
    return factor @ factor.mT / n + torch.eye(n, dtype=torch.float64)


def test_matrices_of_several_blocks() -> None:
    """Columns in the second and third block are those of LAPACK."""
    matrix = _positive(70, 2)
    factor, info = linalg_cholesky_ex(matrix.float())
    torch.testing.assert_close(factor.double(), torch.linalg.cholesky(matrix), rtol=0, atol=1e-5)
    assert info.tolist() == [0, 0]


def test_info_names_the_first_minor_that_is_not_positive() -> None:
    """One failing matrix of a batch is told as LAPACK tells it, and spoils no other."""
    matrix = _positive(40, 3)
    matrix[1, 35, 35] = -1
    factor, info = linalg_cholesky_ex(matrix)
    assert info.tolist() == torch.linalg.cholesky_ex(matrix).info.tolist() == [0, 36, 0]
    assert factor[1, :, 35].isnan().any()
    torch.testing.assert_close(factor[[0, 2]], torch.linalg.cholesky(matrix[[0, 2]]))
    torch.testing.assert_close(factor[1, :, :35].tril(), factor[1, :, :35])


def test_second_derivatives() -> None:
    """The gradient is made of differentiable ops: a Hessian comes out right."""
    matrix = _positive(4)
    assert torch.autograd.gradgradcheck(
        lambda a: linalg_cholesky(a + a.mT), matrix.requires_grad_()
    )
