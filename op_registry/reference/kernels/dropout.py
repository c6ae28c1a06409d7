"""``_masked_scale``: what CUDA's dropout does with its mask."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel


def _definition(self: torch.Tensor, mask: torch.Tensor, scale: float) -> torch.Tensor:
    """Return the same in float64; without a gradient, as PyTorch has none for the op."""
    wide = self.detach().double()
    return torch.where(mask != 0, wide * scale, wide * 0).to(self.dtype)


@kernel(
    "aten._masked_scale.default",
    source="definition",
    accuracy="rounding of one product",
    expected=_definition,
)
def masked_scale(self: torch.Tensor, mask: torch.Tensor, scale: float) -> torch.Tensor:
    """Return ``self * mask * scale``; ``mask`` holds ones and zeros, as bools or bytes."""
    return self * (mask.to(self.dtype) * scale)
