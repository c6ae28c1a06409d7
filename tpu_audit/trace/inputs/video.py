"""Video models: clips of as many frames as the config names."""

from __future__ import annotations

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts, is_main
from tpu_audit.trace.inputs.sizes import ImageSize, channels, image_size

_FRAME_COUNTS = ("num_frames", "frames_per_clip")
_CLIP = 8
"""Frames where the config names none."""


def applies(ctx: InputContext) -> bool:
    """Tell whether the main input is a clip: by its name, or by a config that counts frames."""
    if is_main(ctx, "pixel_values_videos"):
        return True
    counted = any(hasattr(ctx.config, name) for name in _FRAME_COUNTS)
    return counted and is_main(ctx, "pixel_values")


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` clips of (frames, channels, height, width)."""
    name = "pixel_values_videos" if accepts(ctx, "pixel_values_videos") else "pixel_values"
    size, frames = image_size(ctx), frame_count(ctx)
    return Inputs(
        kwargs={name: clip(ctx, size, frames)}, assumptions=[say_video(ctx, size, frames)]
    )


def frame_count(ctx: InputContext) -> int:
    """Return how many frames a clip has."""
    return find_int(ctx.config, *_FRAME_COUNTS, default=_CLIP)


def clip(ctx: InputContext, size: ImageSize, frames: int) -> Floats:
    """Return (batch, frames, channels, height, width)."""
    shape = (ctx.settings.batch, frames, channels(ctx.config), size.height, size.width)
    return Floats(shape=shape)


def say_video(ctx: InputContext, size: ImageSize, frames: int) -> str:
    """Describe a batch of clips in a sentence."""
    return f"video: {ctx.settings.batch} x {frames} frames of {size}"


BUILDER = Builder(name="video", applies=applies, build=build)
