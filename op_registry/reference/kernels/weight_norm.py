"""``_weight_norm_interface_backward``: the gradient of a weight as direction times magnitude."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel


@kernel(
    "aten._weight_norm_interface_backward.default",
    source="Salimans and Kingma, Weight Normalization (2016), equation 3",
    accuracy="rounding of f32 sums over all but one dimension",
)
def weight_norm_interface_backward(
    grad_w: torch.Tensor,
    saved_v: torch.Tensor,
    saved_g: torch.Tensor,
    saved_norms: torch.Tensor,
    dim: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients of v, shaped like the weight, and of g, of size 1 but along ``dim``.

    The weight is ``saved_g`` * ``saved_v`` / ``saved_norms``, the norm of each slice along ``dim``,
    which is the first or the last dimension.
    """
    if dim not in (0, saved_v.dim() - 1):
        raise RuntimeError("fused kernels can only be applied for first or last dim")
    others = [d for d in range(saved_v.dim()) if d != dim]
    gradient, v, g, norms = (_wide(x) for x in (grad_w, saved_v, saved_g, saved_norms))
    along = (gradient * v).sum(others, keepdim=True) / norms
    grad_v = g / norms * (gradient - v / norms * along)
    return grad_v.to(saved_v.dtype), along.to(saved_g.dtype)


def _wide(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype == torch.float64 else x.float()
