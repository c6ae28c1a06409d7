"""How vision-language models take an image: one style a module, first that applies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.trace.inputs.pixels import crops, grid, naflex, navit, plain, positions, tiles

if TYPE_CHECKING:
    from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs

STYLES: tuple[Builder, ...] = (
    grid.STYLE,
    navit.STYLE,
    naflex.STYLE,
    positions.STYLE,
    tiles.STYLE,
    crops.STYLE,
    plain.STYLE,
)


def image(ctx: InputContext) -> Inputs:
    """Return one image per item as the model takes it: pixels and all that describes them."""
    style = next(style for style in STYLES if style.applies(ctx))
    return style.build(ctx)
