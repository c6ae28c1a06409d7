"""``_weight_norm_interface``: a weight as direction times magnitude, and its gradient."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel

_PAPER = "Salimans and Kingma, Weight Normalization (2016), equation"
_ACCURACY = "rounding of f32 sums over all but one dimension"


@kernel("aten._weight_norm_interface.default", source=f"{_PAPER} 2", accuracy=_ACCURACY)
def weight_norm_interface(
    v: torch.Tensor, g: torch.Tensor, dim: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the weight ``g`` * ``v`` / norm, shaped like ``v``, and the norm of each slice.

    Slices lie along ``dim``, the first or the last dimension; the norms, of ``g``'s shape, are f32
    for narrower weights.
    """
    direction, magnitude = _wide(v), _wide(g)
    norms = direction.square().sum(_others(v, dim), keepdim=True).sqrt()
    return (magnitude * direction / norms).to(v.dtype), norms


@kernel("aten._weight_norm_interface_backward.default", source=f"{_PAPER} 3", accuracy=_ACCURACY)
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
    others = _others(saved_v, dim)
    gradient, v, g, norms = (_wide(x) for x in (grad_w, saved_v, saved_g, saved_norms))
    along = (gradient * v).sum(others, keepdim=True) / norms
    grad_v = g / norms * (gradient - v / norms * along)
    return grad_v.to(saved_v.dtype), along.to(saved_g.dtype)


def _others(weight: torch.Tensor, dim: int) -> list[int]:
    if dim not in (0, weight.dim() - 1):
        raise RuntimeError("fused kernels can only be applied for first or last dim")
    return [d for d in range(weight.dim()) if d != dim]


def _wide(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype == torch.float64 else x.float()
