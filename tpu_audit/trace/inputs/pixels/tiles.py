"""Images of any resolution as tiles of one size plus an overview (LLaVA-NeXT and its kin)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tpu_audit.trace.inputs.fields import find
from tpu_audit.trace.inputs.images import pixels
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import ImageSize, tower_size

if TYPE_CHECKING:
    from collections.abc import Sequence


def applies(ctx: InputContext) -> bool:
    """Tell whether the config lists the resolutions an image is fitted to."""
    listed = isinstance(find(ctx.config, "image_grid_pinpoints"), list)
    return listed and accepts(ctx, "pixel_values", "image_sizes")


def build(ctx: InputContext) -> Inputs:
    """Give an image of two by two tiles where that is listed, else of the first size listed."""
    tile = tower_size(ctx)
    height, width = _resolution(find(ctx.config, "image_grid_pinpoints"), tile)
    count = (height // tile.height) * (width // tile.width) + 1
    said = f"image: {ctx.settings.batch} x {height}x{width} in {count} tiles of {tile}"
    return Inputs(
        kwargs={
            "pixel_values": pixels(ctx, tile, count),
            "image_sizes": torch.tensor([[height, width]] * ctx.settings.batch),
        },
        assumptions=[said],
    )


def _resolution(listed: Sequence[Sequence[int]], tile: ImageSize) -> tuple[int, int]:
    square = [2 * tile.height, 2 * tile.width]
    height, width = square if square in [list(pair) for pair in listed] else listed[0]
    return height, width


STYLE = Builder(name="tiles", applies=applies, build=build)
