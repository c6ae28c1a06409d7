"""Rows of patches, each with its x and y (Gemma 4)."""

from __future__ import annotations

import torch

from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.pixels.patches import PatchGrid, patch_grid
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import channels

_SIDE = 768


def applies(ctx: InputContext) -> bool:
    """Tell whether images come with the positions of their patches."""
    return accepts(ctx, "pixel_values", "image_position_ids")


def build(ctx: InputContext) -> Inputs:
    """Give full rows of patches: no padding."""
    grid, batch = patch_grid(ctx.config, side=_SIDE), ctx.settings.batch
    said = f"image: {batch} x {grid.pixels}x{grid.pixels}, {grid.rows}x{grid.rows} patches"
    return Inputs(
        kwargs={
            "pixel_values": Floats(shape=(batch, grid.count, patch_width(ctx, grid))),
            "image_position_ids": coordinates(grid).expand(batch, -1, -1).contiguous(),
        },
        assumptions=[said],
    )


def patch_width(ctx: InputContext, grid: PatchGrid) -> int:
    """Return the values in a patch."""
    return channels(ctx.config) * grid.patch * grid.patch


def coordinates(grid: PatchGrid) -> torch.Tensor:
    """Return (1, patches, 2): x and y of each patch, row by row."""
    index = torch.arange(grid.count)
    return torch.stack([index % grid.rows, index // grid.rows], dim=-1)[None]


STYLE = Builder(name="patches with positions", applies=applies, build=build)
