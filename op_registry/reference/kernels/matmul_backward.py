"""``matmul_backward``: both gradients of a product of matrices or vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

_Pair = tuple[torch.Tensor | None, torch.Tensor | None]


def _by_autograd(
    grad: torch.Tensor, self: torch.Tensor, other: torch.Tensor, mask: Sequence[bool]
) -> _Pair:
    """Return the gradients as autograd finds them."""
    with torch.enable_grad():
        a, b = (x.detach().requires_grad_() for x in (self, other))
        found = torch.autograd.grad(torch.matmul(a, b), [a, b], grad)
    return found[0] if mask[0] else None, found[1] if mask[1] else None


@kernel(
    "aten.matmul_backward.default",
    source="derivative",
    accuracy="accumulation order of sums",
    expected=_by_autograd,
)
def matmul_backward(
    grad: torch.Tensor, self: torch.Tensor, other: torch.Tensor, mask: Sequence[bool]
) -> _Pair:
    """Return the gradients of ``self @ other`` with regard to both; None where ``mask`` is false.

    The two are vectors, matrices or batches of matrices that broadcast.
    """
    if self.dim() == 0 or other.dim() == 0:
        raise RuntimeError("both arguments to matmul need to be at least 1D")
    # As matrices: a vector is a row on the left and a column on the right.
    a = self.unsqueeze(0) if self.dim() == 1 else self
    b = other.unsqueeze(1) if other.dim() == 1 else other
    g = grad.unsqueeze(-1) if other.dim() == 1 else grad
    g = g.unsqueeze(-2) if self.dim() == 1 else g
    first = (g @ b.mH).sum_to_size(a.shape).reshape(self.shape) if mask[0] else None
    second = (a.mH @ g).sum_to_size(b.shape).reshape(other.shape) if mask[1] else None
    return first, second
