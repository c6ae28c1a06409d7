"""Control networks: a U-Net's inputs, and the image that steers."""

from __future__ import annotations

from tpu_audit.trace.inputs.diffusion.sizes import SCALE, number
from tpu_audit.trace.inputs.diffusion.unet import sample
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

_SIDE = 64
_LARGE = 128
"""Latents a side: the config names no size, so that of the U-Nets it is used with."""


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step with an image of ``batch`` to follow."""
    side = _LARGE if ctx.config.get("addition_embed_type") == "text_time" else _SIDE
    kwargs, words = sample(ctx, side, side)
    channels = number(ctx.config, "conditioning_channels", 3)
    pixels = side * SCALE
    kwargs["controlnet_cond"] = Floats(shape=(ctx.settings.batch, channels, pixels, pixels))
    return Inputs(kwargs=kwargs, assumptions=[f"{words}, control image {pixels}x{pixels}"])


CLASSES = {"ControlNetModel": build}
