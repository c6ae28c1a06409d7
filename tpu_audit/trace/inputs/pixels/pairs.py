"""Two views of a scene, to be matched."""

from __future__ import annotations

from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts
from tpu_audit.trace.inputs.sizes import ImageSize, processor_size

_MATCHERS = ("efficientloftr", "lightglue", "superglue")
_HEIGHT, _WIDTH, _RGB = 480, 640, 3
"""What the published processors of all three resize to."""


def applies(ctx: InputContext) -> bool:
    """Tell the keypoint matchers."""
    return ctx.model_type in _MATCHERS and accepts(ctx, "pixel_values")


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` pairs of images."""
    height, width = processor_size(ctx) or (_HEIGHT, _WIDTH)
    size = ImageSize(height=height, width=width, source="processor or its default")
    shape = (ctx.settings.batch, 2, _RGB, height, width)
    said = f"image: {ctx.settings.batch} pairs of {size}"
    return Inputs(kwargs={"pixel_values": Floats(shape=shape)}, assumptions=[said])


STYLE = Builder(name="pairs", applies=applies, build=build)
