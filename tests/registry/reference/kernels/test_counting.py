"""Ops that count and number: unique slices, histograms, segments, hashes."""

from __future__ import annotations

import pytest
import torch

from op_registry.reference.kernels.hash_tensor import hash_tensor
from op_registry.reference.kernels.histogram import histogram, histogram_of_edges, histogramdd
from op_registry.reference.kernels.segment_reduce_backward import segment_reduce_backward
from op_registry.reference.kernels.unique import unique_dim


@pytest.mark.parametrize("columns", [1, 2, 5, 8])
def test_unique_rows(columns: int) -> None:
    """In eager's order, with the same places and counts, however many columns there are."""
    torch.manual_seed(0)
    rows = torch.randint(0, 2, (40, columns))
    for ours, theirs in zip(
        unique_dim(rows, 0),
        torch.unique(rows, dim=0, return_inverse=True, return_counts=True),
        strict=True,
    ):
        assert torch.equal(ours, theirs)


def test_unique_of_no_rows() -> None:
    """Nothing is unique; rows without elements cannot be compared."""
    assert unique_dim(torch.empty(0, 3), 0)[0].shape == (0, 3)
    with pytest.raises(RuntimeError, match="0 sized dimensions"):
        unique_dim(torch.empty(0, 0), 0)
    with pytest.raises(IndexError, match="no dimensions"):
        unique_dim(torch.zeros(()), 0)


def test_the_last_edge_belongs_to_the_last_bin() -> None:
    """Each other one to the bin above it; what lies outside is not counted."""
    x = torch.tensor([-1.0, 0.0, 1.0, 1.5, 2.0, 2.5])
    counts, edges = histogram(x, 2, range=(0.0, 2.0))
    assert counts.tolist() == [1.0, 3.0]
    assert edges.tolist() == [0.0, 1.0, 2.0]
    assert histogram_of_edges(x, torch.tensor([0.0, 0.5, 2.5]))[0].tolist() == [1.0, 4.0]


def test_a_histogram_of_equal_elements_is_one_wide() -> None:
    """Its bins span one half to either side."""
    counts, edges = histogram(torch.full((3,), 2.0), 2)
    assert edges.tolist() == [1.5, 2.0, 2.5]
    assert counts.tolist() == [0.0, 3.0]


def test_densities_integrate_to_one() -> None:
    """Over bins of two dimensions and unequal widths, with weights."""
    torch.manual_seed(0)
    points, weight = torch.rand(50, 2, dtype=torch.float64), torch.rand(50, dtype=torch.float64)
    density = histogramdd(points, [3, 4], range=(0, 1, 0, 2), weight=weight, density=True)
    assert abs(float(density.sum()) * (1 / 3) * (2 / 4) - 1) < 1e-12


def test_negative_gradients_are_shared_among_ties() -> None:
    """Two elements that are both the largest get half each, whatever the sign."""
    data = torch.tensor([3.0, 3.0, 1.0])
    found = segment_reduce_backward(
        torch.tensor([-1.0]), torch.tensor([3.0]), data, "max", lengths=torch.tensor([3])
    )
    assert found.tolist() == [-0.5, -0.5, 0.0]


def test_elements_of_no_segment_get_no_gradient() -> None:
    """Those past the end of the last one."""
    found = segment_reduce_backward(
        torch.ones(2), torch.ones(2), torch.ones(5), "sum", offsets=torch.tensor([0, 1, 3])
    )
    assert found.tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]


def test_a_hash_of_an_odd_number_of_elements() -> None:
    """Every element counts once: all bits but those of the one that stands alone cancel."""
    x = torch.tensor([5, 9, 5, 9, 7])
    assert int(hash_tensor(x).item()) == 7
    with pytest.raises(RuntimeError, match="unknown mode 1"):
        hash_tensor(x, mode=1)
