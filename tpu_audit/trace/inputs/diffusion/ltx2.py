"""LTX-Video and LTX-2: packed latents of a video, and of its sound."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.diffusion.sizes import number, step
from tpu_audit.trace.inputs.interface import Floats, InputContext, Inputs

_FRAMES, _HEIGHT, _WIDTH = 16, 16, 24
"""Latents of 121 frames of 512x768 pixels, the pipelines' default."""
_AUDIO = 126
"""Latents of the sound: 25 a second."""
_TEXT = 1024
_PLAIN_TEXT = 128


def build(ctx: InputContext) -> Inputs:
    """Give one denoising step of LTX-2: video and sound together."""
    config, batch = ctx.config, ctx.settings.batch
    tokens = _FRAMES * _HEIGHT * _WIDTH
    caption = (batch, _TEXT, number(config, "caption_channels", 3840))
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, tokens, number(config, "in_channels", 128))),
        "audio_hidden_states": Floats(
            shape=(batch, _AUDIO, number(config, "audio_in_channels", 128))
        ),
        "encoder_hidden_states": Floats(shape=caption),
        "audio_encoder_hidden_states": Floats(shape=caption),
        "timestep": step(ctx),
        "encoder_attention_mask": torch.ones(batch, _TEXT, dtype=torch.int64),
        "audio_encoder_attention_mask": torch.ones(batch, _TEXT, dtype=torch.int64),
        "num_frames": _FRAMES,
        "height": _HEIGHT,
        "width": _WIDTH,
        "audio_num_frames": _AUDIO,
    }
    words = f"video {tokens} and sound {_AUDIO} latent tokens, text {_TEXT} tokens"
    return Inputs(kwargs=kwargs, assumptions=[words])


def build_video(ctx: InputContext) -> Inputs:
    """Give one denoising step of LTX-Video."""
    config, batch = ctx.config, ctx.settings.batch
    tokens = _FRAMES * _HEIGHT * _WIDTH
    caption = (batch, _PLAIN_TEXT, number(config, "caption_channels", 4096))
    kwargs: dict[str, Any] = {
        "hidden_states": Floats(shape=(batch, tokens, number(config, "in_channels", 128))),
        "encoder_hidden_states": Floats(shape=caption),
        "timestep": step(ctx),
        "encoder_attention_mask": torch.ones(batch, _PLAIN_TEXT, dtype=torch.int64),
        "num_frames": _FRAMES,
        "height": _HEIGHT,
        "width": _WIDTH,
    }
    words = f"video {tokens} latent tokens, text {_PLAIN_TEXT} tokens"
    return Inputs(kwargs=kwargs, assumptions=[words])


CLASSES = {"LTX2VideoTransformer3DModel": build, "LTXVideoTransformer3DModel": build_video}
