"""Eigenvalues where torch's own inputs do not go: larger, graded and degenerate matrices."""

from __future__ import annotations

import pytest
import torch

from op_registry.reference.kernels.eigh import linalg_eigh, linalg_eigvalsh


def _check(matrix: torch.Tensor, tolerance: float) -> None:
    """Check that A V = V diag(values), V is unitary, and values ascend as eager's do."""
    values, vectors = linalg_eigh(matrix)
    expected = torch.linalg.eigvalsh(matrix)
    unit = torch.eye(matrix.shape[-1], dtype=matrix.dtype).expand(matrix.shape)
    for found, wanted in (
        (values, expected),
        (matrix @ vectors, vectors * values.unsqueeze(-2)),
        (vectors.mH @ vectors, unit),
    ):
        torch.testing.assert_close(found, wanted, rtol=0, atol=tolerance)


def _hermitian(n: int, dtype: torch.dtype, *batch: int) -> torch.Tensor:
    matrix = torch.randn(*batch, n, n, dtype=dtype, generator=torch.manual_seed(0))
    return matrix + matrix.mH


@pytest.mark.parametrize("n", [1, 2, 3, 7, 16, 17, 40])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_both_methods(n: int, dtype: torch.dtype) -> None:
    """Odd sizes, the last that Jacobi's method takes and larger ones are right in a batch."""
    _check(_hermitian(n, dtype, 3), 1e-11)


@pytest.mark.parametrize("n", [3, 8, 16, 20])
def test_equal_eigenvalues(n: int) -> None:
    """Eigenvectors of an eigenvalue that occurs several times are orthogonal all the same."""
    basis = torch.linalg.qr(_hermitian(n, torch.float32)).Q
    values = torch.ones(n)
    values[n // 2 :] = 2
    matrix = basis * values @ basis.mT
    _check((matrix + matrix.mT) / 2, 2e-5)
    _check(torch.eye(n), 1e-6)
    _check(torch.zeros(n, n), 1e-6)


def test_graded_matrices() -> None:
    """Elements of very different sizes take no more sweeps than there are."""
    scale = torch.logspace(0, -6, 16)
    _check(_hermitian(16, torch.float32, 20) * scale * scale.unsqueeze(-1), 5e-5)
    _check(_hermitian(5, torch.float32) * 1e30, 1e26)


def test_the_other_triangle_is_not_read() -> None:
    """UPLO chooses, and what it does not choose may be anything."""
    matrix = _hermitian(4, torch.float64)
    spoilt = matrix + torch.full((4, 4), torch.nan, dtype=torch.float64).triu(1)
    torch.testing.assert_close(linalg_eigvalsh(spoilt), torch.linalg.eigvalsh(matrix))
    torch.testing.assert_close(linalg_eigvalsh(spoilt.mT, "U"), torch.linalg.eigvalsh(matrix))
    with pytest.raises(RuntimeError, match="UPLO"):
        linalg_eigh(matrix, "X")


def test_second_derivatives() -> None:
    """The gradient is made of differentiable ops: a Hessian comes out right."""
    matrix = _hermitian(3, torch.float64).requires_grad_()
    assert torch.autograd.gradgradcheck(lambda a: linalg_eigvalsh(a + a.mT), matrix)
    assert torch.autograd.gradgradcheck(lambda a: linalg_eigh(a + a.mT)[1].square(), matrix)
