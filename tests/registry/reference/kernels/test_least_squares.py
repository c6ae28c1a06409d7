"""Least squares for matrices whose rank is not full."""

from __future__ import annotations

import pytest
import torch

from op_registry.reference.kernels.least_squares import linalg_lstsq


@pytest.mark.parametrize("driver", [None, "gelsy", "gelsd", "gelss"])
def test_a_lower_rank_gives_the_least_norm(driver: str | None) -> None:
    """Solution and rank are those of eager; residuals, which eager leaves out, are NaN."""
    factor = torch.randn(6, 2, generator=torch.manual_seed(0), dtype=torch.float64)
    matrix = torch.cat([factor, factor.sum(1, keepdim=True)], 1)
    right = torch.randn(6, 2, generator=torch.manual_seed(1), dtype=torch.float64)
    expected = torch.linalg.lstsq(matrix, right, driver=driver)
    solution, residuals, rank, _ = linalg_lstsq(matrix, right, driver=driver)
    torch.testing.assert_close(solution, expected.solution)
    assert rank == expected.rank == 2
    assert residuals.isnan().all()


def test_rcond_decides_what_counts_as_zero() -> None:
    """A singular value below the share of the largest that is given does not count."""
    matrix, right = torch.diag(torch.tensor([1.0, 1e-2])), torch.ones(2, 1)
    assert linalg_lstsq(matrix, right, 0.1, driver="gelsd")[2] == 1
    assert linalg_lstsq(matrix, right, 0.001, driver="gelsd")[2] == 2


@pytest.mark.parametrize(
    ("matrix", "right", "driver", "told"),
    [
        (torch.ones(3), torch.ones(3), None, "at least 2 dimensions"),
        (torch.ones(3, 2), torch.ones(4, 1), None, "4 rows"),
        (torch.ones(3, 2), torch.ones(3, 1), "qr", "should be one of"),
        (torch.ones(3, 2), torch.ones(3, 1).double(), None, "same dtype"),
    ],
)
def test_wrong_arguments_are_told(
    matrix: torch.Tensor, right: torch.Tensor, driver: str | None, told: str
) -> None:
    """Shapes, dtypes and drivers that eager refuses are refused by name."""
    with pytest.raises(RuntimeError, match=told):
        linalg_lstsq(matrix, right, driver=driver)
