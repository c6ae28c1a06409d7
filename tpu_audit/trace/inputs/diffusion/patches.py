"""Transformers over latents that take one text: PixArt, Sana, Lumina 2, Mochi, Z-Image..."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.diffusion.sizes import STEP, number, step
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

_SIDE = 128
_PIXART_TEXT, _SANA_TEXT, _LUMINA_TEXT = 300, 300, 256
_MOCHI = (4, 60, 106)
"""Latents of 19 frames of 480x848 pixels, the pipeline's default."""
_MOCHI_TEXT = 256
_HUNYUAN_VIDEO = (33, 90, 160)
"""Latents of 129 frames of 720x1280 pixels, the pipeline's default."""
_HUNYUAN_TEXT = 256


def pixart(ctx: InputContext) -> Inputs:
    """Give one denoising step of PixArt."""
    config, batch = ctx.config, ctx.settings.batch
    inputs = _latents(ctx, _PIXART_TEXT, number(config, "caption_channels", 4096))
    added: dict[str, Any] = {"resolution": None, "aspect_ratio": None}
    if number(config, "sample_size", 128) == _SIDE and config.get(
        "use_additional_conditions", True
    ):
        added = {"resolution": Floats(shape=(batch, 2)), "aspect_ratio": Floats(shape=(batch, 1))}
    inputs.kwargs["added_cond_kwargs"] = added
    inputs.kwargs["encoder_attention_mask"] = _mask(ctx, _PIXART_TEXT)
    return inputs


def sana(ctx: InputContext) -> Inputs:
    """Give one denoising step of Sana."""
    inputs = _latents(ctx, _SANA_TEXT, number(ctx.config, "caption_channels", 2304))
    inputs.kwargs["encoder_attention_mask"] = _mask(ctx, _SANA_TEXT)
    if ctx.config.get("guidance_embeds"):
        inputs.kwargs["guidance"] = step(ctx, 4.5)
    return inputs


def lumina(ctx: InputContext) -> Inputs:
    """Give one denoising step of Lumina 2."""
    inputs = _latents(ctx, _LUMINA_TEXT, number(ctx.config, "cap_feat_dim", 2304))
    inputs.kwargs["encoder_attention_mask"] = _mask(ctx, _LUMINA_TEXT)
    return inputs


def mochi(ctx: InputContext) -> Inputs:
    """Give one denoising step of Mochi."""
    width = number(ctx.config, "text_embed_dim", 4096)
    return _video(ctx, _MOCHI, number(ctx.config, "in_channels", 12), _MOCHI_TEXT, width)


def hunyuan_video(ctx: InputContext) -> Inputs:
    """Give one denoising step of HunyuanVideo."""
    config, batch = ctx.config, ctx.settings.batch
    width = number(config, "text_embed_dim", 4096)
    channels = number(config, "in_channels", 16)
    inputs = _video(ctx, _HUNYUAN_VIDEO, channels, _HUNYUAN_TEXT, width)
    pooled = number(config, "pooled_projection_dim", 768)
    inputs.kwargs["pooled_projections"] = Floats(shape=(batch, pooled))
    if config.get("guidance_embeds"):
        inputs.kwargs["guidance"] = step(ctx, 6000.0)
    return inputs


def z_image(ctx: InputContext) -> Inputs:
    """Give one denoising step of Z-Image: lists, one entry an image."""
    channels, text = number(ctx.config, "in_channels", 16), 512
    width = number(ctx.config, "cap_feat_dim", 2560)
    images = range(ctx.settings.batch)
    kwargs: dict[str, Any] = {
        "x": [Floats(shape=(channels, 1, _SIDE, _SIDE)) for _ in images],
        "t": step(ctx, 1.0),
        "cap_feats": [Floats(shape=(text, width)) for _ in images],
    }
    return Inputs(
        kwargs=kwargs,
        assumptions=[f"latents {channels}x1x{_SIDE}x{_SIDE}, text {text} tokens"],
    )


def _latents(ctx: InputContext, text: int, width: int) -> Inputs:
    config, batch = ctx.config, ctx.settings.batch
    side, channels = number(config, "sample_size", _SIDE), number(config, "in_channels", 4)
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, channels, side, side)),
        "encoder_hidden_states": Floats(shape=(batch, text, width)),
        "timestep": step(ctx, STEP),
    }
    return Inputs(
        kwargs=kwargs, assumptions=[f"latents {channels}x{side}x{side}, text {text} tokens"]
    )


def _video(
    ctx: InputContext, grid: tuple[int, int, int], channels: int, text: int, width: int
) -> Inputs:
    batch = ctx.settings.batch
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, channels, *grid)),
        "encoder_hidden_states": Floats(shape=(batch, text, width)),
        "encoder_attention_mask": _mask(ctx, text).bool(),
        "timestep": step(ctx, STEP),
    }
    size = "x".join(map(str, (channels, *grid)))
    return Inputs(kwargs=kwargs, assumptions=[f"latents {size}, text {text} tokens"])


def _mask(ctx: InputContext, tokens: int) -> torch.Tensor:
    return torch.ones(ctx.settings.batch, tokens, dtype=torch.int64)


CLASSES = {
    "PixArtTransformer2DModel": pixart,
    "SanaTransformer2DModel": sana,
    "Lumina2Transformer2DModel": lumina,
    "MochiTransformer3DModel": mochi,
    "HunyuanVideoTransformer3DModel": hunyuan_video,
    "ZImageTransformer2DModel": z_image,
}
