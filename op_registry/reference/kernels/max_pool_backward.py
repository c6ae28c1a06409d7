"""``max_pool2d_backward``: the gradient of a max pool that kept no places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence


def _by_autograd(gradient: torch.Tensor, self: torch.Tensor, *pool: object) -> torch.Tensor:
    with torch.enable_grad():
        x = self.detach().requires_grad_()
        pooled = torch.max_pool2d(x, *pool)  # type: ignore[arg-type]
        return torch.autograd.grad(pooled, x, gradient)[0]


@kernel(
    "aten.max_pool2d_backward.default",
    source="definition",
    accuracy="that of max_pool2d_with_indices_backward",
    expected=_by_autograd,
)
def max_pool2d_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
    ceil_mode: bool = False,
) -> torch.Tensor:
    """Return the gradient, shaped like ``self`` ((N,) C, H, W); pools again for the places."""
    pool = (list(kernel_size), list(stride), list(padding), list(dilation), ceil_mode)
    aten = torch.ops.aten
    _, indices = aten.max_pool2d_with_indices(self, *pool)
    found: torch.Tensor = aten.max_pool2d_with_indices_backward(grad_output, self, *pool, indices)
    return found
