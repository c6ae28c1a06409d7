"""Crops as rows of patches, with a list of the patches that each placeholder pools (Molmo 2)."""

from __future__ import annotations

import torch

from tpu_audit.trace.inputs.fields import vision_section
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.pixels.patches import patch_size
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import channels, config_size

_SIDE = 378
_CROPS = 2
"""The overview and one crop: an image no larger than a crop."""
_POOL = 2
"""Patches a side that one placeholder pools."""


def applies(ctx: InputContext) -> bool:
    """Tell whether the inputs say which patches are pooled."""
    return accepts(ctx, "pixel_values", "image_token_pooling", "image_grids")


def build(ctx: InputContext) -> Inputs:
    """Give an overview and one crop an image; patches are pooled two by two, no padding."""
    batch, patch = ctx.settings.batch, patch_size(ctx.config)
    side = (config_size(vision_section(ctx.config)) or (_SIDE, _SIDE))[0]
    rows = side // patch
    pooled = -(-rows // _POOL)
    tokens = batch * _CROPS * pooled**2
    patches = batch * _CROPS * rows**2
    index = torch.arange(tokens * _POOL**2) % patches
    values = channels(ctx.config) * patch**2
    return Inputs(
        kwargs={
            "pixel_values": Floats(shape=(batch * _CROPS, rows**2, values)),
            "image_token_pooling": index.view(tokens, _POOL**2),
            "image_grids": torch.tensor([[pooled] * 4] * batch),
            "image_num_crops": torch.tensor([_CROPS] * batch),
        },
        assumptions=[f"image: {batch} x {side}x{side} as an overview and one crop"],
    )


STYLE = Builder(name="pooled patches", applies=applies, build=build)
