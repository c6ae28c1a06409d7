"""Patches side by side in one long strip, with the height and width of each image (MiniCPM-V)."""

from __future__ import annotations

import torch

from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.pixels.patches import patch_grid
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import channels

_BLOCK = 4
"""Two mergers in a row, each of 2 x 2 patches."""


def applies(ctx: InputContext) -> bool:
    """Tell whether images come with ``target_sizes``."""
    return accepts(ctx, "pixel_values", "target_sizes")


def build(ctx: InputContext) -> Inputs:
    """Give the strip of ``batch`` images' patches, and their sizes in patches."""
    grid, batch = patch_grid(ctx.config, merge=_BLOCK), ctx.settings.batch
    width = grid.patch * grid.count * batch
    said = f"image: {batch} x {grid.pixels}x{grid.pixels}, {grid.rows}x{grid.rows} patches"
    return Inputs(
        kwargs={
            "pixel_values": Floats(shape=(1, channels(ctx.config), grid.patch, width)),
            "target_sizes": torch.tensor([[grid.rows, grid.rows]] * batch, dtype=torch.int32),
        },
        assumptions=[said],
    )


STYLE = Builder(name="strip of patches", applies=applies, build=build)
