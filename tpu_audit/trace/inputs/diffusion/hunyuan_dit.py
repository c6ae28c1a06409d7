"""HunyuanDiT: latents, the states of two text encoders, and rotary tables."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.diffusion.sizes import STEP, number, step
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

_SIZES = 6
"""Original size, target size and crop of the image, two numbers each."""


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step at the size of the config."""
    config, batch = ctx.config, ctx.settings.batch
    side, channels = number(config, "sample_size", 128), number(config, "in_channels", 4)
    text, text_t5 = number(config, "text_len", 77), number(config, "text_len_t5", 256)
    width = number(config, "cross_attention_dim", 1024)
    width_t5 = number(config, "cross_attention_dim_t5", 2048)
    table = ((side // number(config, "patch_size", 2)) ** 2, _head(config))
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, channels, side, side)),
        "timestep": step(ctx, STEP),
        "encoder_hidden_states": Floats(shape=(batch, text, width)),
        "text_embedding_mask": torch.ones(batch, text, dtype=torch.int64),
        "encoder_hidden_states_t5": Floats(shape=(batch, text_t5, width_t5)),
        "text_embedding_mask_t5": torch.ones(batch, text_t5, dtype=torch.int64),
        "image_rotary_emb": (Floats(shape=table), Floats(shape=table)),
    }
    if config.get("use_style_cond_and_image_meta_size", True):
        kwargs["image_meta_size"] = Floats(shape=(batch, _SIZES))
        kwargs["style"] = torch.zeros(batch, dtype=torch.int64)
    words = f"latents {channels}x{side}x{side}, text {text} + {text_t5} tokens"
    return Inputs(kwargs=kwargs, assumptions=[words])


def _head(config: Any) -> int:
    return number(config, "hidden_size", 1408) // number(config, "num_attention_heads", 16)


CLASSES = {"HunyuanDiT2DModel": build}
