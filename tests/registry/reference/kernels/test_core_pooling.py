"""Average pools at integers, which PyTorch's CPU kernels take."""

from __future__ import annotations

import pytest
import torch

from op_registry.reference.kernels.core_pooling import avg_pool2d_backward


@pytest.mark.parametrize("count_include_pad", [True, False])
@pytest.mark.parametrize("divisor_override", [None, 3])
def test_integer_gradients_are_divided_window_by_window(
    count_include_pad: bool, divisor_override: int | None
) -> None:
    """Each window's share is cut off before shares are added up, as eager does."""
    x, grad = torch.zeros(1, 2, 5, 5, dtype=torch.int64), torch.arange(-9, 9).view(1, 2, 3, 3)
    windows = ([3, 3], [2, 2], [1, 1], False, count_include_pad, divisor_override)

    ours = avg_pool2d_backward(grad * 7, x, *windows)

    assert torch.equal(ours, torch.ops.aten.avg_pool2d_backward(grad * 7, x, *windows))
    assert ours.any()
