"""Phi-4 multimodal: crops with masks over patches, and audio, under names of their own."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.placeholders import AUDIO, IMAGE, prompt
from tpu_audit.trace.inputs.signature import accepts

_CROPS = 2
"""The overview and one crop: an image no larger than a crop."""
_CROP, _PATCH, _POOL = 448, 14, 2
_FRAMES, _MELS, _REDUCTION = 1000, 80, 8


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes images and audio under Phi-4's names."""
    return accepts(ctx, "input_ids", "image_pixel_values", "audio_input_features")


def build(ctx: InputContext) -> Inputs:
    """Give an image, a clip and a prompt with room for both."""
    image, tokens = _image(ctx)
    audio, frames = _audio(ctx)
    words, said = prompt(ctx, {IMAGE: tokens, AUDIO: frames})
    size = find_int(ctx.config.vision_config, "crop_size", default=_CROP)
    said.append(f"image: {ctx.settings.batch} x {size}x{size} as an overview and one crop")
    said.append(f"{tokens} placeholder tokens for each image, {frames} for each audio")
    said.append(f"audio: {ctx.settings.batch} x {_FRAMES} frames, no padding")
    return Inputs(kwargs={**words, **image, **audio}, assumptions=said)


def _image(ctx: InputContext) -> tuple[dict[str, Any], int]:
    """Return the arguments, and the features: each row of both views ends in a separator."""
    vision, batch = ctx.config.vision_config, ctx.settings.batch
    size = find_int(vision, "crop_size", default=_CROP)
    patches = size // find_int(vision, "patch_size", default=_PATCH)
    rows = patches // _POOL
    channels = find_int(vision, "num_channels", default=3)
    kwargs = {
        "image_pixel_values": Floats(shape=(batch, _CROPS, channels, size, size)),
        "image_sizes": torch.tensor([[size, size]] * batch),
        "image_attention_mask": torch.ones(batch, _CROPS, patches, patches, dtype=torch.int64),
    }
    return kwargs, _CROPS * rows * (rows + 1) + 1


def _audio(ctx: InputContext) -> tuple[dict[str, Any], int]:
    part, batch = ctx.config.audio_config, ctx.settings.batch
    reduced = -(-_FRAMES // find_int(part, "time_reduction", default=_REDUCTION))
    width = find_int(part, "input_size", default=_MELS)
    kwargs = {
        "audio_input_features": Floats(shape=(batch, _FRAMES, width)),
        "audio_embed_sizes": torch.tensor([reduced] * batch),
        "audio_attention_mask": torch.ones(batch, _FRAMES, dtype=torch.bool),
    }
    return kwargs, reduced


BUILDER = Builder(name="phi-4 multimodal", applies=applies, build=build)
