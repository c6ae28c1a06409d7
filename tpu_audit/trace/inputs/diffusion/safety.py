"""The safety checker of Stable Diffusion: an image encoder and distances to concepts."""

from __future__ import annotations

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

_PIXELS = 512


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` images as CLIP's processor and as the decoder make them."""
    batch, side = ctx.settings.batch, find_int(ctx.config, "image_size", default=224)
    return Inputs(
        kwargs={
            "clip_input": Floats(shape=(batch, 3, side, side)),
            "images": Floats(shape=(batch, 3, _PIXELS, _PIXELS)),
        },
        assumptions=[f"image {side}x{side}", "the variant without a copy to the host was traced"],
        method="forward_onnx",
    )


CLASSES = {"StableDiffusionSafetyChecker": build}
