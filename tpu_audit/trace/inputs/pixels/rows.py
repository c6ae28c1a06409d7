"""Flat patches with neither grid nor mask: the model itself is the image encoder."""

from __future__ import annotations

from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.pixels.patches import patch_grid
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import channels

_BY_IMAGE = {
    "fuyu": True,  # (images, patches, values): one linear layer embeds the patches of an image
    "neomme": False,  # (all patches, values): the patches of a batch are packed
}
"""model_type -> whether patches are kept apart by image."""


def applies(ctx: InputContext) -> bool:
    """Tell the models that embed raw patches beside their tokens."""
    return ctx.model_type in _BY_IMAGE and accepts(ctx, "pixel_values")


def build(ctx: InputContext) -> Inputs:
    """Give the patches of ``batch`` images."""
    grid, batch = patch_grid(ctx.config), ctx.settings.batch
    values = channels(ctx.config) * grid.patch * grid.patch
    by_image = _BY_IMAGE[ctx.model_type]
    shape = (batch, grid.count, values) if by_image else (batch * grid.count, values)
    said = f"image: {batch} x {grid.pixels}x{grid.pixels}, {grid.rows}x{grid.rows} patches"
    return Inputs(kwargs={"pixel_values": Floats(shape=shape)}, assumptions=[said])


STYLE = Builder(name="raw patches", applies=applies, build=build)
