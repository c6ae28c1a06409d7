"""Order statistics: ties, NaN, and gradients that are shared."""

from __future__ import annotations

import math

import pytest
import torch

from op_registry.reference.kernels.mode import mode
from op_registry.reference.kernels.order_statistics import (
    kthvalue,
    median,
    median_dim,
    nanmedian,
    nanmedian_dim,
)


def _negative_nan() -> torch.Tensor:
    """Return a NaN with the sign bit set, which a total order puts before all numbers."""
    return torch.tensor([-0x400000], dtype=torch.int32).view(torch.float32)


def test_a_nan_of_either_sign_is_the_median() -> None:
    """Its place among the elements is told, whatever its sign bit."""
    x = torch.cat([torch.tensor([3.0, 1.0]), _negative_nan(), torch.tensor([2.0])])
    value, index = median_dim(x, 0)
    assert math.isnan(value)
    assert int(index) == 2
    assert math.isnan(median(x))


def test_nanmedian_passes_over_nan() -> None:
    """The lower middle of the numbers; NaN at index 0 where there are none."""
    x = torch.tensor([[4.0, math.nan, 1.0, 3.0], [math.nan] * 4])
    values, indices = nanmedian_dim(x, 1)
    assert float(values[0]) == 3.0
    assert math.isnan(values[1])
    assert indices.tolist() == [3, 0]
    assert float(nanmedian(x)) == 3.0


def test_nothing_has_no_median() -> None:
    """Of all elements of nothing it is NaN; along an empty dimension it is an error."""
    assert math.isnan(median(torch.empty(0)))
    with pytest.raises(IndexError, match="non-zero size"):
        median_dim(torch.empty(2, 0), 1)


def test_equal_elements_share_the_gradient_of_a_median() -> None:
    """As autograd's formula does, without a question to the host."""
    x = torch.tensor([2.0, 1.0, 2.0, 5.0, 2.0], requires_grad=True)
    (ours,) = torch.autograd.grad(median(x), x)
    (theirs,) = torch.autograd.grad(x.median(), x)
    assert torch.equal(ours, theirs)
    assert float(ours.sum()) == 1.0


@pytest.mark.parametrize("k", [0, 4])
def test_kthvalue_out_of_range(k: int) -> None:
    """There are as many as the dimension has elements."""
    with pytest.raises(RuntimeError, match="out of range"):
        kthvalue(torch.zeros(3), k)


def test_the_mode_is_the_smallest_of_the_most_frequent() -> None:
    """It is told where it stands last."""
    value, index = mode(torch.tensor([5, 2, 5, 2, 7, 9]))
    assert (int(value), int(index)) == (2, 3)


def test_every_nan_is_a_value_of_its_own_to_the_mode() -> None:
    """Two of them are not more frequent than a number that occurs twice."""
    value, _ = mode(torch.tensor([math.nan, 1.0, math.nan, 1.0, math.nan]))
    assert float(value) == 1.0


def test_a_complex_number_alone_is_in_order() -> None:
    """Without dimensions there is nothing to compare: eager takes complex numbers there too."""
    x = torch.tensor(1 + 2j)
    for ours, theirs in ((kthvalue(x, 1), torch.kthvalue(x, 1)), (mode(x), torch.mode(x))):
        assert (ours[0], ours[1]) == (theirs[0], theirs[1])
