"""Image models: one image per item, at the size its processor or its config names."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts, is_main
from tpu_audit.trace.inputs.sizes import ImageSize, channels, image_size

_DETECTION = 640
"""Side of an image for detectors whose config names no size (a common training resolution)."""


def applies(ctx: InputContext) -> bool:
    """Tell whether the main input is an image."""
    return is_main(ctx, "pixel_values")


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` images of (channels, height, width); masks of ones where forward takes any."""
    detector = accepts(ctx, "pixel_mask")
    size = image_size(ctx, default=_DETECTION) if detector else image_size(ctx)
    kwargs: dict[str, Any] = {"pixel_values": pixels(ctx, size)}
    if detector:
        shape = (ctx.settings.batch, size.height, size.width)
        kwargs["pixel_mask"] = torch.ones(shape, dtype=torch.int64)
    return Inputs(kwargs=kwargs, assumptions=[say_images(ctx, size)])


def pixels(ctx: InputContext, size: ImageSize, *between: int) -> Floats:
    """Return (batch, *between, channels, height, width)."""
    shape = (ctx.settings.batch, *between, channels(ctx.config), size.height, size.width)
    return Floats(shape=shape)


def say_images(ctx: InputContext, size: ImageSize, note: str = "") -> str:
    """Describe a batch of images in a sentence."""
    return f"image: {ctx.settings.batch} x {size}{note}"


BUILDER = Builder(name="vision", applies=applies, build=build)
