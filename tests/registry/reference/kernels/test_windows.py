"""Which element of a window is its maximum: ties and NaN as eager's pools have them."""

from __future__ import annotations

import torch

from op_registry.reference.kernels.adaptive_max_pool import adaptive_max_pool3d
from op_registry.reference.kernels.fractional_max_pool import fractional_max_pool2d


def test_the_first_of_equal_elements_is_the_maximum() -> None:
    """Windows of equal elements, minus infinity too, give the place of their first."""
    for value in (0.0, float("-inf")):
        x = torch.full((1, 5, 7, 6), value)
        expected = torch.ops.aten.adaptive_max_pool3d(x, [2, 3, 4])
        found = adaptive_max_pool3d(x, [2, 3, 4])
        assert torch.equal(found[1], expected[1])


def test_the_last_nan_is_the_maximum() -> None:
    """Eager's loop takes every NaN that it meets, so that the last one's place stays."""
    x = torch.tensor([[1.0, float("nan"), 3.0], [float("nan"), 9.0, 2.0], [0.0, 1.0, 2.0]])
    expected = torch.ops.aten.fractional_max_pool2d(x[None], [3, 3], [1, 1], torch.rand(1, 1, 2))
    value, place = fractional_max_pool2d(x[None], [3, 3], [1, 1], torch.rand(1, 1, 2))
    assert value.isnan().all()
    assert place.item() == expected[1].item() == 3
