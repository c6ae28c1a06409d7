"""Up to four tiles an image that the decoder attends to across (Mllama)."""

from __future__ import annotations

import torch

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.images import pixels
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import image_size

_TILES = 4


def applies(ctx: InputContext) -> bool:
    """Tell whether tiles come with the aspect ratio of their image."""
    return accepts(ctx, "pixel_values", "aspect_ratio_ids")


def build(ctx: InputContext) -> Inputs:
    """Give one image an item in as many tiles as the model can take."""
    size, batch = image_size(ctx), ctx.settings.batch
    tiles = find_int(ctx.config, "max_num_tiles", default=_TILES)
    return Inputs(
        kwargs={
            "pixel_values": pixels(ctx, size, 1, tiles),
            "aspect_ratio_ids": torch.ones(batch, 1, dtype=torch.int64),
            "aspect_ratio_mask": torch.ones(batch, 1, tiles, dtype=torch.int64),
        },
        assumptions=[f"image: {batch} x {tiles} tiles of {size}"],
    )


STYLE = Builder(name="tiles for cross attention", applies=applies, build=build)
