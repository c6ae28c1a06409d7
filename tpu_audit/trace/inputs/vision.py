"""Image models: one image an item, in the form the model takes it."""

from __future__ import annotations

from tpu_audit.trace.inputs import pixels
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts, is_main, required


def applies(ctx: InputContext) -> bool:
    """Tell whether the main input is an image, or the patches of one."""
    named = is_main(ctx, "pixel_values") or is_main(ctx, "flattened_patches")
    return named or is_encoder(ctx)


def is_encoder(ctx: InputContext) -> bool:
    """Tell the image encoder of a larger model: it takes patches and no text."""
    patches = accepts(ctx, "grid_thw") or "pixel_values" in required(ctx)
    return patches and not accepts(ctx, "input_ids")


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` images."""
    return pixels.image(ctx)


BUILDER = Builder(name="vision", applies=applies, build=build)
