"""Stable Diffusion 3: latents, and the states of CLIP and T5 one after the other."""

from __future__ import annotations

from typing import Any

from tpu_audit.trace.inputs.diffusion.sizes import STEP, number, step
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

_TEXT = 77 + 256
"""Tokens of CLIP and of T5, to which the pipeline pads."""


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step."""
    config, batch = ctx.config, ctx.settings.batch
    side, channels = number(config, "sample_size", 128), number(config, "in_channels", 16)
    width = number(config, "joint_attention_dim", 4096)
    pooled = number(config, "pooled_projection_dim", 2048)
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, channels, side, side)),
        "encoder_hidden_states": Floats(shape=(batch, _TEXT, width)),
        "pooled_projections": Floats(shape=(batch, pooled)),
        "timestep": step(ctx, STEP),
    }
    words = f"latents {channels}x{side}x{side}, text {_TEXT} tokens"
    return Inputs(kwargs=kwargs, assumptions=[words])


CLASSES = {"SD3Transformer2DModel": build}
