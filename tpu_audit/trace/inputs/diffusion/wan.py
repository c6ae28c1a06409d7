"""Wan: latents of a video, and the states of UMT5."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.diffusion.sizes import STEP, number
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

FRAMES, HEIGHT, WIDTH = 21, 60, 104
"""Latents of 81 frames of 480x832 pixels, the pipelines' default."""
_TEXT = 512
_IMAGE = 257
"""Tokens that CLIP makes of the first frame."""


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step; image-to-video models get the states of their image encoder."""
    config, batch = ctx.config, ctx.settings.batch
    channels = number(config, "in_channels", 16)
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, channels, FRAMES, HEIGHT, WIDTH)),
        "timestep": torch.full((batch,), int(STEP)),
        "encoder_hidden_states": Floats(shape=(batch, _TEXT, number(config, "text_dim", 4096))),
    }
    words = f"latents {channels}x{FRAMES}x{HEIGHT}x{WIDTH}, text {_TEXT} tokens"
    if config.get("image_dim"):
        shape = (batch, _IMAGE, number(config, "image_dim", 1280))
        kwargs["encoder_hidden_states_image"] = Floats(shape=shape)
        words += f", image {_IMAGE} tokens"
    return Inputs(kwargs=kwargs, assumptions=[words])


CLASSES = {"WanTransformer3DModel": build}
