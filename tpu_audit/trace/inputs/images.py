"""Shapes of plain images, and the sentence that describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.trace.inputs.interface import Floats
from tpu_audit.trace.inputs.sizes import ImageSize, channels

if TYPE_CHECKING:
    from tpu_audit.trace.inputs.interface import InputContext


def pixels(ctx: InputContext, size: ImageSize, *between: int) -> Floats:
    """Return (batch, *between, channels, height, width)."""
    shape = (ctx.settings.batch, *between, channels(ctx.config), size.height, size.width)
    return Floats(shape=shape)


def say_images(ctx: InputContext, size: ImageSize, note: str = "") -> str:
    """Describe a batch of images in a sentence."""
    return f"image: {ctx.settings.batch} x {size}{note}"
