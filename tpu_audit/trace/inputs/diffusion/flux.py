"""FLUX.1 and Chroma: packed latents of 2x2 patches, and positions of both streams."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.diffusion.sizes import SCALE, number, step
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

SIDE = 128
"""Latents a side: 1024 pixels, the pipelines' default."""
TEXT = 512
"""Tokens of T5, to which the pipelines pad."""
_GUIDANCE = 3.5


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step of FLUX.1."""
    inputs = _streams(ctx)
    config, batch = ctx.config, ctx.settings.batch
    pooled = number(config, "pooled_projection_dim", 768)
    inputs.kwargs["pooled_projections"] = Floats(shape=(batch, pooled))
    if config.get("guidance_embeds"):
        inputs.kwargs["guidance"] = torch.full((batch,), _GUIDANCE)
    return inputs


def build_chroma(ctx: InputContext) -> Inputs:
    """Give one denoising step of Chroma, which masks the padding of the text."""
    inputs = _streams(ctx)
    tokens = (SIDE // 2) ** 2 + TEXT
    mask = torch.ones(ctx.settings.batch, tokens, dtype=torch.bool)
    inputs.kwargs["attention_mask"] = mask
    return inputs


def _streams(ctx: InputContext) -> Inputs:
    batch, tokens = ctx.settings.batch, (SIDE // 2) ** 2
    width = number(ctx.config, "joint_attention_dim", 4096)
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, tokens, number(ctx.config, "in_channels", 64))),
        "encoder_hidden_states": Floats(shape=(batch, TEXT, width)),
        "timestep": step(ctx, 1.0),
        "img_ids": Floats(shape=(tokens, 3)),
        "txt_ids": Floats(shape=(TEXT, 3)),
    }
    pixels = SIDE * SCALE
    words = f"image {pixels}x{pixels}: {tokens} latent tokens, text {TEXT} tokens"
    return Inputs(kwargs=kwargs, assumptions=[words])


CLASSES = {"FluxTransformer2DModel": build, "ChromaTransformer2DModel": build_chroma}
