"""Packed patches with a grid (time, height, width) an image: Qwen-VL and its many kin."""

from __future__ import annotations

import torch

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.pixels.patches import PatchGrid, patch_grid
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import channels

_SQUARE_PATCHES = {
    "kimi_k25": 0,  # its patch layer is a Conv2d over (patches, channels, side, side)
    "paddleocr_vl": 1,  # the same, with a batch axis in front
}
"""model_type -> leading axes of one, for vision towers that take patches as little images."""


def applies(ctx: InputContext) -> bool:
    """Tell whether images come with a grid."""
    return accepts(ctx, "image_grid_thw")


def build(ctx: InputContext) -> Inputs:
    """Give the patches of ``batch`` images in one row, and their grids."""
    grid, batch = patch_grid(ctx.config), ctx.settings.batch
    shape = patch_rows(ctx, grid, batch * grid.count)
    said = (
        f"image: {batch} x {grid.pixels}x{grid.pixels}, a grid of {grid.rows}x{grid.rows} patches"
    )
    return Inputs(
        kwargs={
            "pixel_values": Floats(shape=shape),
            "image_grid_thw": torch.tensor([[1, grid.rows, grid.rows]] * batch),
        },
        assumptions=[said],
    )


def patch_rows(ctx: InputContext, grid: PatchGrid, count: int) -> tuple[int, ...]:
    """Return the shape of ``count`` patches as the vision tower takes them."""
    depth = channels(ctx.config)
    leading = _SQUARE_PATCHES.get(ctx.model_type)
    if leading is not None:
        return (*(1,) * leading, count, depth, grid.patch, grid.patch)
    frames = find_int(ctx.config, "temporal_patch_size", "patch_temporal", default=1)
    return (count, depth * frames * grid.patch * grid.patch)


STYLE = Builder(name="grid", applies=applies, build=build)
