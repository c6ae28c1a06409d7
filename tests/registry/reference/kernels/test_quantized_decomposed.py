"""Quantisation: where the gradient stops, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from op_registry.reference.kernels.fake_quantize import fake_quantize_per_channel_affine
from op_registry.reference.kernels.quantized_decomposed import (
    dequantize_per_tensor,
    quantize_per_channel,
    quantize_per_tensor_tensor,
)
from op_registry.reference.kernels.quantized_decomposed_tokens import (
    quantize_per_channel_group,
    quantize_per_token,
)

if TYPE_CHECKING:
    from collections.abc import Callable

X = torch.linspace(-1, 1, 12).reshape(3, 4)
SCALE, POINT = torch.tensor([0.1, 0.2, 0.4]), torch.zeros(3, dtype=torch.int32)


def test_the_gradient_stops_where_values_are_cut_off() -> None:
    """Fake quantisation passes gradients within the bounds, and none to scale and zero point."""
    x, scale = X.clone().requires_grad_(), SCALE.clone().requires_grad_()
    fake_quantize_per_channel_affine(x, scale, POINT, 0, -4, 3).sum().backward()
    steps = (X / SCALE.unsqueeze(1)).round()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, ((steps >= -4) & (steps <= 3)).float())
    assert scale.grad is None


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: quantize_per_channel(X.double(), SCALE, POINT, 0, 0, 9, torch.int8), "float32"),
        (lambda: quantize_per_channel(X, SCALE, POINT, 1, 0, 9, torch.int8), "not consistent"),
        (lambda: quantize_per_channel(X, SCALE, POINT, 2, 0, 9, torch.int8), "axis"),
        (lambda: quantize_per_tensor_tensor(X, SCALE, POINT, 0, 9, torch.int8), "one element"),
        (lambda: dequantize_per_tensor(X, 0.1, 0, 0, 9, torch.int8), "torch.int8"),
        (lambda: quantize_per_token(X, SCALE[:2], POINT, 0, 9, torch.int8), "num_tokens"),
        (
            lambda: quantize_per_channel_group(X, SCALE, POINT, 0, 9, torch.int8, 3),
            "divisible by group_size",
        ),
        (lambda: quantize_per_channel_group(X, SCALE, POINT, 0, 9, torch.int8, 1), "> 1"),
    ],
)
def test_wrong_arguments_are_told(call: Callable[[], torch.Tensor], told: str) -> None:
    """Dtypes, axes and counts that do not fit are refused by name."""
    with pytest.raises(RuntimeError, match=told):
        call()
