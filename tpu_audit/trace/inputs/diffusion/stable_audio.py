"""Stable Audio: latents of sound, and the seconds that it should last."""

from __future__ import annotations

from typing import Any

from tpu_audit.trace.inputs.diffusion.sizes import STEP, number, step
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

TEXT = 128
"""Tokens of T5, to which the pipeline pads."""


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step; two tokens for the start and the end follow the text's."""
    config, batch = ctx.config, ctx.settings.batch
    length, channels = number(config, "sample_size", 1024), number(config, "in_channels", 64)
    width = number(config, "cross_attention_input_dim", 768)
    rotary = number(config, "attention_head_dim", 64) // 2
    whole = number(config, "global_states_input_dim", 1536)
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, channels, length)),
        "timestep": step(ctx, STEP / 1000),
        "encoder_hidden_states": Floats(shape=(batch, TEXT + 2, width)),
        "global_hidden_states": Floats(shape=(batch, 1, whole)),
        "rotary_embedding": (
            Floats(shape=(length + 1, rotary)),
            Floats(shape=(length + 1, rotary)),
        ),
    }
    words = f"latents {channels}x{length}, text {TEXT} tokens"
    return Inputs(kwargs=kwargs, assumptions=[words])


def build_projection(ctx: InputContext) -> Inputs:
    """Give the text's states, and a start and an end in seconds."""
    batch = ctx.settings.batch
    width = number(ctx.config, "text_encoder_dim", 768)
    kwargs: dict[str, Any] = {
        "text_hidden_states": Floats(shape=(batch, TEXT, width)),
        "start_seconds": step(ctx, 0.0),
        "end_seconds": step(ctx, 47.0),
    }
    return Inputs(kwargs=kwargs, assumptions=[f"text {TEXT} tokens"])


CLASSES = {"StableAudioDiTModel": build, "StableAudioProjectionModel": build_projection}
