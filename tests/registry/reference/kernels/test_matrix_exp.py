"""The matrix exponential at norms that need no, many and too many squarings."""

from __future__ import annotations

import math

import pytest
import torch

from op_registry.reference.kernels.matrix_exp import matrix_exp


@pytest.mark.parametrize("angle", [0.0, 0.3, 3.0, 100.0, 60_000.0])
def test_rotations(angle: float) -> None:
    """The exponential of a skew matrix is the rotation by its angle, however large."""
    turn = torch.tensor([[0.0, -angle], [angle, 0.0]], dtype=torch.float64)
    cosine, sine = math.cos(angle), math.sin(angle)
    expected = torch.tensor([[cosine, -sine], [sine, cosine]], dtype=torch.float64)
    if angle < 41_000:
        torch.testing.assert_close(matrix_exp(turn), expected, rtol=0, atol=1e-10)
    else:
        assert matrix_exp(turn).isnan().all()


def test_matrices_of_a_batch_are_scaled_one_by_one() -> None:
    """A large matrix beside a small one changes nothing in the small one."""
    small = torch.randn(3, 3, generator=torch.manual_seed(0))
    both = matrix_exp(torch.stack([small, 50 * small]))
    torch.testing.assert_close(both[0], torch.linalg.matrix_exp(small))
    torch.testing.assert_close(both[0], matrix_exp(small), rtol=0, atol=0)
