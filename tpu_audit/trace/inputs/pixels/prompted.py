"""An image with a solved example beside it: the example's image and its mask (SegGPT)."""

from __future__ import annotations

from tpu_audit.trace.inputs.images import pixels, say_images
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import ImageSize, image_size


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes an example."""
    return accepts(ctx, "pixel_values", "prompt_pixel_values", "prompt_masks")


def build(ctx: InputContext) -> Inputs:
    """Give image, example and mask of one size: the model stacks two of them to its own."""
    whole = image_size(ctx)
    half = whole.height // 2 if whole.height > whole.width else whole.height
    size = ImageSize(height=half, width=whole.width, source=whole.source)
    one = pixels(ctx, size)
    return Inputs(
        kwargs={"pixel_values": one, "prompt_pixel_values": one, "prompt_masks": one},
        assumptions=[say_images(ctx, size, ", with one example")],
    )


STYLE = Builder(name="example beside", applies=applies, build=build)
