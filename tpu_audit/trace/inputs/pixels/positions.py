"""Rows of patches, each with its x and y (Gemma 4)."""

from __future__ import annotations

import torch

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.pixels.patches import PatchGrid, merge_size, patch_grid
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import channels

_POSITIONS = ("image_position_ids", "pixel_position_ids")
_SIDE = 768


def applies(ctx: InputContext) -> bool:
    """Tell whether images come with the positions of their patches."""
    return accepts(ctx, "pixel_values") and any(accepts(ctx, name) for name in _POSITIONS)


def build(ctx: InputContext) -> Inputs:
    """Give full rows of patches: no padding."""
    grid, batch = patch_grid(ctx.config, merge=_block(ctx), side=_SIDE), ctx.settings.batch
    name = next(name for name in _POSITIONS if accepts(ctx, name))
    said = f"image: {batch} x {grid.pixels}x{grid.pixels}, {grid.rows}x{grid.rows} patches"
    return Inputs(
        kwargs={
            "pixel_values": Floats(shape=(batch, grid.count, _patch_width(ctx, grid))),
            name: _coordinates(grid).expand(batch, -1, -1).contiguous(),
        },
        assumptions=[said],
    )


def _block(ctx: InputContext) -> int:
    return find_int(ctx.config, "pooling_kernel_size", default=merge_size(ctx.config))


def _patch_width(ctx: InputContext, grid: PatchGrid) -> int:
    return channels(ctx.config) * grid.patch * grid.patch


def _coordinates(grid: PatchGrid) -> torch.Tensor:
    """Return (1, patches, 2): x and y of each patch, row by row."""
    index = torch.arange(grid.count)
    return torch.stack([index % grid.rows, index // grid.rows], dim=-1)[None]


STYLE = Builder(name="patches with positions", applies=applies, build=build)
