"""Packed patches with a grid (time, height, width) an image: Qwen-VL and its many kin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.pixels.patches import PatchGrid, merge_size, patch_grid
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import channels

if TYPE_CHECKING:
    from collections.abc import Callable

_GRIDS = ("image_grid_thw", "grid_thw", "image_grid_hw")
_PATCHES = ("pixel_values", "hidden_states")


def applies(ctx: InputContext) -> bool:
    """Tell whether images come with a grid."""
    return any(accepts(ctx, name) for name in _GRIDS)


def build(ctx: InputContext) -> Inputs:
    """Give the patches of ``batch`` images in one row, and their grids."""
    grid, batch = patch_grid(ctx.config), ctx.settings.batch
    merge = merge_size(ctx.config) if ctx.model_type.startswith("inkling2") else 1
    rows = torch.tensor([[1, grid.rows // merge, grid.rows // merge]] * batch)
    patches = next(name for name in _PATCHES if accepts(ctx, name))
    name = next(name for name in _GRIDS if accepts(ctx, name))
    kwargs: dict[str, Any] = {
        patches: Floats(shape=_layout(ctx)(ctx, grid)),
        name: rows[:, 1:] if name == "image_grid_hw" else rows,
    }
    kwargs |= _merges(ctx)
    said = (
        f"image: {batch} x {grid.pixels}x{grid.pixels}, a grid of {grid.rows}x{grid.rows} patches"
    )
    return Inputs(kwargs=kwargs, assumptions=[said])


def _merges(ctx: InputContext) -> dict[str, torch.Tensor]:
    """Give each image's merge size where the model takes it from its inputs (VideoLLaMA 3)."""
    sizes = torch.tensor([merge_size(ctx.config, default=2)] * ctx.settings.batch)
    return {name: sizes for name in ("image_merge_sizes", "merge_sizes") if accepts(ctx, name)}


def _flat(ctx: InputContext, grid: PatchGrid) -> tuple[int, ...]:
    """(all patches, values of a patch over its frames): what the Qwen processors give."""
    frames = find_int(ctx.config, "temporal_patch_size", "patch_temporal", default=1)
    values = channels(ctx.config) * frames * grid.patch * grid.patch
    return (ctx.settings.batch * grid.count, values)


def _flat_by_image(ctx: InputContext, grid: PatchGrid) -> tuple[int, ...]:
    return (ctx.settings.batch, grid.count, _flat(ctx, grid)[-1])


def _square(ctx: InputContext, grid: PatchGrid) -> tuple[int, ...]:
    return (ctx.settings.batch * grid.count, channels(ctx.config), grid.patch, grid.patch)


def _square_in_one_batch(ctx: InputContext, grid: PatchGrid) -> tuple[int, ...]:
    return (1, *_square(ctx, grid))


def _merged_channels_last(ctx: InputContext, grid: PatchGrid) -> tuple[int, ...]:
    merge = merge_size(ctx.config)
    side = grid.patch * merge
    return (ctx.settings.batch * grid.count // merge**2, side, side, channels(ctx.config))


_LAYOUTS: dict[str, Callable[[InputContext, PatchGrid], tuple[int, ...]]] = {
    "kimi_k25": _square,  # the patch layer is a Conv2d over little images
    "kimi_k25_vision": _square,
    "paddleocr_vl": _square,  # the model adds the batch axis that its tower wants
    "paddleocr_vl_vision": _square_in_one_batch,
    "colqwen2": _flat_by_image,  # a retriever: images of a batch are padded, not packed
    "inkling2": _merged_channels_last,  # one entry per placeholder token
    "inkling2_loop": _merged_channels_last,
    "inkling2_vision": _merged_channels_last,
}
"""model_type -> layout of the patches, where it is not flat rows."""


def _layout(ctx: InputContext) -> Callable[[InputContext, PatchGrid], tuple[int, ...]]:
    return _LAYOUTS.get(ctx.model_type, _flat)


STYLE = Builder(name="grid", applies=applies, build=build)
