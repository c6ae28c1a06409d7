"""FLUX.2: packed latents, with positions in four dimensions."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.diffusion.flux import SIDE, TEXT
from tpu_audit.trace.inputs.diffusion.sizes import SCALE, number, step
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

_GUIDANCE = 4.0


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step."""
    config, batch, side = ctx.config, ctx.settings.batch, SIDE // 2
    one = torch.arange(1)
    image = torch.cartesian_prod(one, torch.arange(side), torch.arange(side), one)
    text = torch.cartesian_prod(one, one, one, torch.arange(TEXT))
    width = number(config, "joint_attention_dim", 15360)
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, side * side, number(config, "in_channels", 128))),
        "encoder_hidden_states": Floats(shape=(batch, TEXT, width)),
        "timestep": step(ctx, 1.0),
        "img_ids": image.expand(batch, -1, -1),
        "txt_ids": text.expand(batch, -1, -1),
    }
    if config.get("guidance_embeds", True):
        kwargs["guidance"] = torch.full((batch,), _GUIDANCE)
    pixels = SIDE * SCALE
    words = f"image {pixels}x{pixels}: {side * side} latent tokens, text {TEXT} tokens"
    return Inputs(kwargs=kwargs, assumptions=[words])


CLASSES = {"Flux2Transformer2DModel": build}
