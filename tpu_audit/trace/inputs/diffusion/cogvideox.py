"""CogVideoX: latents of a video frame by frame, and rotary tables that the pipeline makes."""

from __future__ import annotations

from typing import Any

from tpu_audit.trace.inputs.diffusion.sizes import SCALE, STEP, number, step
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

_LONGEST = 300
"""Latents: no side is longer in the configs of CogVideoX."""


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step at the size of the config."""
    config, batch = ctx.config, ctx.settings.batch
    channels = number(config, "in_channels", 16)
    height, width = size(config)
    frames = latent_frames(config)
    text = number(config, "max_text_seq_length", 226)
    states = (batch, text, number(config, "text_embed_dim", 4096))
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, frames, channels, height, width)),
        "encoder_hidden_states": Floats(shape=states),
        "timestep": step(ctx, STEP),
    }
    if config.get("use_rotary_positional_embeddings"):
        patch = number(config, "patch_size", 2)
        tokens = frames // (number(config, "patch_size_t", 1)) * (height // patch)
        table = (tokens * (width // patch), number(config, "attention_head_dim", 64))
        kwargs["image_rotary_emb"] = (Floats(shape=table), Floats(shape=table))
    if config.get("ofs_embed_dim"):
        kwargs["ofs"] = step(ctx, 2.0)
    words = f"latents {frames}x{channels}x{height}x{width}, text {text} tokens"
    return Inputs(kwargs=kwargs, assumptions=[words])


def size(config: Any) -> tuple[int, int]:
    """Return height and width of the latents; some configs give pixels, which is too many."""
    height, width = number(config, "sample_height", 60), number(config, "sample_width", 90)
    patch = number(config, "patch_size", 2)
    block = SCALE * patch if max(height, width) > _LONGEST else patch
    return height // block * patch, width // block * patch


def latent_frames(config: Any) -> int:
    """Return how many latent frames a video of the config's length has, in whole patches."""
    frames = number(config, "sample_frames", 49) - 1
    latents = frames // number(config, "temporal_compression_ratio", 4) + 1
    patch = number(config, "patch_size_t", 1)
    return -(-latents // patch) * patch


CLASSES = {"CogVideoXTransformer3DModel": build}
