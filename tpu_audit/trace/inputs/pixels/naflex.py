"""Padded rows of patches with the spatial shape of each image (SigLIP 2 NaFlex, LFM2-VL)."""

from __future__ import annotations

import torch

from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.pixels.patches import patch_grid
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import channels

_SIDE = 256
"""16 x 16 patches of 16 pixels: the 256 patches these models are published with."""


def applies(ctx: InputContext) -> bool:
    """Tell whether images come with ``spatial_shapes``."""
    return accepts(ctx, "pixel_values", "spatial_shapes")


def build(ctx: InputContext) -> Inputs:
    """Give full rows of patches: no padding."""
    grid, batch = patch_grid(ctx.config, side=_SIDE), ctx.settings.batch
    width = channels(ctx.config) * grid.patch * grid.patch
    said = f"image: {batch} x {grid.pixels}x{grid.pixels}, {grid.rows}x{grid.rows} patches"
    return Inputs(
        kwargs={
            "pixel_values": Floats(shape=(batch, grid.count, width)),
            "spatial_shapes": torch.tensor([[grid.rows, grid.rows]] * batch),
            "pixel_attention_mask": torch.ones(batch, grid.count, dtype=torch.int64),
        },
        assumptions=[said],
    )


STYLE = Builder(name="rows of patches", applies=applies, build=build)
