"""How models take an image: one style a module, the first that applies wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.trace.inputs import video
from tpu_audit.trace.inputs.pixels import (
    crops,
    flattened,
    grid,
    mllama,
    naflex,
    navit,
    pairs,
    plain,
    pooled,
    positions,
    prompted,
    rows,
    tiles,
)

if TYPE_CHECKING:
    from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs

STYLES: tuple[Builder, ...] = (
    flattened.STYLE,
    pairs.STYLE,
    prompted.STYLE,
    grid.STYLE,
    navit.STYLE,
    naflex.STYLE,
    positions.STYLE,
    pooled.STYLE,
    mllama.STYLE,
    tiles.STYLE,
    crops.STYLE,
    rows.STYLE,
    plain.STYLE,
)


def image(ctx: InputContext) -> Inputs:
    """Return one image an item as the model takes it: pixels and all that describes them."""
    style = next(style for style in STYLES if style.applies(ctx))
    return style.build(ctx)


def clip(ctx: InputContext) -> Inputs:
    """Return one video an item, as frames of one size (batch, frames, channels, height, width)."""
    return video.build(ctx)
