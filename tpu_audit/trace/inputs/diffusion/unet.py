"""U-Nets: noisy latents, a timestep, and what the text encoders give."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.diffusion.sizes import STEP, number, pair
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

TEXT = 77
"""Tokens of a prompt: CLIP's context, to which the pipelines pad."""
_GLM_TEXT = 256
"""Tokens of a prompt where ChatGLM encodes it."""
_SIZES = 6
"""Original size, crop and target size of an image, two numbers each."""


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step of ``batch`` images at the size of the config."""
    height, width = pair(ctx.config.get("sample_size"), (64, 64))
    kwargs, words = sample(ctx, height, width)
    return Inputs(kwargs=kwargs, assumptions=[words])


def sample(ctx: InputContext, height: int, width: int) -> tuple[dict[str, Any], str]:
    """Return what U-Nets and their control networks take alike, and a sentence on it."""
    batch = ctx.settings.batch
    channels = number(ctx.config, "in_channels", 4)
    text = _text(ctx)
    kwargs: dict[str, Any] = {
        "sample": Floats(shape=(batch, channels, height, width)),
        "timestep": torch.tensor(int(STEP)),
        "encoder_hidden_states": Floats(shape=(batch, text, _width(ctx))),
    }
    kwargs |= _added(ctx) | _labels(ctx)
    return kwargs, f"latents {channels}x{height}x{width}, text {text} tokens"


def _text(ctx: InputContext) -> int:
    return _GLM_TEXT if ctx.config.get("encoder_hid_dim") else TEXT


def _width(ctx: InputContext) -> int:
    """Return the width of the text's states: before the model's own projection, if it has one."""
    projected = ctx.config.get("encoder_hid_dim")
    width = projected or ctx.config.get("cross_attention_dim") or 0
    return int(max(width) if isinstance(width, list | tuple) else width)


def _added(ctx: InputContext) -> dict[str, Any]:
    """Return the pooled text and the image's sizes, for the models that are told them."""
    if ctx.config.get("addition_embed_type") != "text_time":
        return {}
    batch, sizes = ctx.settings.batch, _SIZES
    total = number(ctx.config, "projection_class_embeddings_input_dim", 2816)
    each = number(ctx.config, "addition_time_embed_dim", 256)
    if (total - 5 * each) in _POOLED:  # a refiner is told a score in place of the target size
        sizes = 5
    pooled = total - sizes * each
    return {
        "added_cond_kwargs": {
            "text_embeds": Floats(shape=(batch, pooled)),
            "time_ids": Floats(shape=(batch, sizes)),
        }
    }


_POOLED = (768, 1280)
"""Widths of the pooled text of the encoders that refiners are used with."""


def _labels(ctx: InputContext) -> dict[str, Any]:
    """Return class labels: a noise level for upscalers, a class where there are some."""
    classes = ctx.config.get("num_class_embeds")
    if classes is None and ctx.config.get("class_embed_type") is None:
        return {}
    if ctx.config.get("class_embed_type") == "projection":
        width = number(ctx.config, "projection_class_embeddings_input_dim", 2048)
        return {"class_labels": Floats(shape=(ctx.settings.batch, width))}
    return {"class_labels": torch.full((ctx.settings.batch,), min(20, (classes or 1000) - 1))}


def build_plain(ctx: InputContext) -> Inputs:
    """Give one denoising step of a U-Net that no text steers."""
    height, width = pair(ctx.config.get("sample_size"), (64, 64))
    channels = number(ctx.config, "in_channels", 3)
    kwargs: dict[str, Any] = {
        "sample": Floats(shape=(ctx.settings.batch, channels, height, width)),
        "timestep": torch.tensor(int(STEP)),
    }
    return Inputs(kwargs=kwargs | _labels(ctx), assumptions=[f"sample {channels}x{height}x{width}"])


CLASSES = {"UNet2DConditionModel": build, "UNet2DModel": build_plain}
