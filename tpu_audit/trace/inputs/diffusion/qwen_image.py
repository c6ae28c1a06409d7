"""Qwen-Image: packed latents, and the grid of each image."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.diffusion.sizes import SCALE, number, step
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

_SIDE = 64
"""Packed latents a side: 1024 pixels, the pipelines' default."""
_TEXT = 512
"""Tokens of the prompt: the pipeline's longest by default is 512."""


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step of an image of 1024x1024 pixels."""
    config, batch, tokens = ctx.config, ctx.settings.batch, _SIDE * _SIDE
    width = number(config, "joint_attention_dim", 3584)
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, tokens, number(config, "in_channels", 64))),
        "encoder_hidden_states": Floats(shape=(batch, _TEXT, width)),
        "encoder_hidden_states_mask": torch.ones(batch, _TEXT, dtype=torch.int64),
        "timestep": step(ctx, 1.0),
        "img_shapes": [[(1, _SIDE, _SIDE)]] * batch,
    }
    if config.get("guidance_embeds"):
        kwargs["guidance"] = torch.full((batch,), 1.0)
    pixels = 2 * _SIDE * SCALE
    words = f"image {pixels}x{pixels}: {tokens} latent tokens, text {_TEXT} tokens"
    return Inputs(kwargs=kwargs, assumptions=[words])


CLASSES = {"QwenImageTransformer2DModel": build}
