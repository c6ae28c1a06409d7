"""The backward of EmbeddingBag where eager's CPU kernel is no measure."""

from __future__ import annotations

import pytest
import torch

from op_registry.reference.kernels.embedding_bag_backward import (
    embedding_bag_dense_backward,
    embedding_bag_per_sample_weights_backward,
)

INDICES, OFFSETS = torch.tensor([3, 8, 3, 0, 5, 5]), torch.tensor([0, 3, 3])
BAGS = torch.tensor([0, 0, 0, 2, 2, 2])
GRADIENT = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))


def test_a_row_is_divided_by_how_often_it_occurs() -> None:
    """By frequency: rows 3 and 5 occur twice each, the others once."""
    none = torch.empty(0, dtype=torch.int64)
    by_frequency, mode = True, 0
    given = (GRADIENT, INDICES, BAGS, none, none)
    found = embedding_bag_dense_backward(*given, 9, by_frequency, mode, None)
    expected = torch.zeros(9, 4)
    expected[3] = expected[8] = GRADIENT[0]
    expected[0] = expected[5] = GRADIENT[2]
    torch.testing.assert_close(found, expected)


def test_bags_are_found_from_offsets() -> None:
    """Without the bag of each sample, offsets give it, over an empty bag as well."""
    weight = torch.randn(9, 4, generator=torch.Generator().manual_seed(1))
    none = torch.empty(0, dtype=torch.int64)
    given = (GRADIENT, weight, INDICES, OFFSETS)
    found = embedding_bag_per_sample_weights_backward(*given, none, 0)
    expected = embedding_bag_per_sample_weights_backward(*given, BAGS, 0)
    torch.testing.assert_close(found, expected)


def test_weights_of_samples_are_for_the_sum() -> None:
    """Means and maxima of weighted samples are refused, as eager refuses them."""
    weight = torch.randn(9, 4)
    with pytest.raises(RuntimeError, match="only supported for mode='sum'"):
        embedding_bag_per_sample_weights_backward(GRADIENT, weight, INDICES, OFFSETS, BAGS, 1)
