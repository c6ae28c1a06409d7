"""The backward of a linear layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._vjp import wide

if TYPE_CHECKING:
    from collections.abc import Sequence


def _expected(
    self: torch.Tensor,
    grad_output: torch.Tensor,
    weight: torch.Tensor,
    output_mask: Sequence[bool],
) -> tuple[torch.Tensor | None, ...]:
    with torch.enable_grad():
        bias = torch.zeros(weight.shape[0], dtype=weight.dtype)
        leaves = [wide(one).detach().requires_grad_() for one in (self, weight, bias)]
        made = torch.nn.functional.linear(*leaves)
        found = torch.autograd.grad(made, leaves, wide(grad_output))
    like = (self, weight, weight)
    pairs = zip(found, like, output_mask, strict=True)
    return tuple(one.to(other.dtype) if asked else None for one, other, asked in pairs)


@kernel(
    "aten.linear_backward.default",
    source="derivative",
    accuracy="as a matrix product in float32",
    expected=_expected,
)
def linear_backward(
    self: torch.Tensor,
    grad_output: torch.Tensor,
    weight: torch.Tensor,
    output_mask: Sequence[bool],
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]:
    """Return the gradients of input (*, in), weight (out, in) and bias (out) that are asked for.

    ``grad_output`` (*, out) is that of ``self @ weight.T + bias``.
    """
    rows = wide(self).reshape(-1, self.shape[-1])
    upper = wide(grad_output).reshape(-1, grad_output.shape[-1])
    of_input = (wide(grad_output) @ wide(weight)).to(self.dtype) if output_mask[0] else None
    of_weight = (upper.t() @ rows).to(weight.dtype) if output_mask[1] else None
    of_bias = upper.sum(0).to(weight.dtype) if output_mask[2] else None
    return of_input, of_weight, of_bias
