"""Several images or crops per item, with a mask over their pixels (Idefics 2 and 3, SmolVLM)."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.images import pixels, say_images
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import ImageSize, tower_size

_TAKES_CROPS = {"colmodernvbert", "perception_lm"}
_MASKS_CROPS = {"granite_docling", "pi0"}
"""Models whose mask says which crops are there, not which pixels."""


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes a mask over pixels, or the model several images an item."""
    several = accepts(ctx, "pixel_attention_mask") or accepts(ctx, "perceiver_embeddings")
    return accepts(ctx, "pixel_values") and (several or ctx.model_type in _TAKES_CROPS)


def build(ctx: InputContext) -> Inputs:
    """Give one image an item, neither split into crops nor padded."""
    size = tower_size(ctx)
    kwargs: dict[str, Any] = {"pixel_values": pixels(ctx, size, 1)}
    if accepts(ctx, "pixel_attention_mask"):
        kwargs["pixel_attention_mask"] = _mask(ctx, size)
    return Inputs(
        kwargs=kwargs,
        assumptions=[say_images(ctx, size, ", not split into crops")],
    )


def _mask(ctx: InputContext, size: ImageSize) -> torch.Tensor:
    batch = ctx.settings.batch
    if ctx.model_type in _MASKS_CROPS:
        return torch.ones(batch, 1, dtype=torch.bool)
    return torch.ones(batch, 1, size.height, size.width, dtype=torch.int64)


STYLE = Builder(name="crops", applies=applies, build=build)
