"""Backward ops as what they are: the gradient of the forward's definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SOURCE = "the gradient of the forward's definition, by autograd"
ACCURACY = "as the sums it comes to, in float32 for shorter types"


def vjp(
    forward: Callable[..., torch.Tensor],
    inputs: Sequence[torch.Tensor],
    gradient: torch.Tensor,
) -> list[torch.Tensor]:
    """Return the gradients of ``inputs`` when ``gradient`` is that of ``forward(*inputs)``.

    Computed in float32 at least, returned in the inputs' dtypes.
    """
    # Autograd keeps nothing of what was made in inference mode.
    with torch.inference_mode(mode=False), torch.enable_grad():
        leaves = [wide(one).clone().detach().requires_grad_() for one in inputs]
        result = forward(*leaves)
        found = torch.autograd.grad(
            result, leaves, wide(gradient).clone(), allow_unused=True, materialize_grads=True
        )
    return [one.to(given.dtype) for one, given in zip(found, inputs, strict=True)]


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """Return ``tensor`` in float32 where its dtype is shorter."""
    return tensor.float() if tensor.dtype in {torch.bfloat16, torch.float16} else tensor
