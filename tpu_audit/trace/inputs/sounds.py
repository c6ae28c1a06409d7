"""How audio-language models take a clip: a spectrogram or a waveform, with its masks."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs import audio, speech
from tpu_audit.trace.inputs.interface import InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts

_FRAME_MASKS = ("input_features_mask", "feature_attention_mask")
_SAMPLE_MASKS = ("padding_mask", "input_values_mask")
_HOP = 160
"""Samples a frame: 10 ms at 16 kHz."""


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes sound."""
    return accepts(ctx, "input_features") or accepts(ctx, "input_values")


def clip(ctx: InputContext) -> Inputs:
    """Return one clip an item, with masks of ones under every name that forward knows."""
    if accepts(ctx, "input_features"):
        return _frames(ctx)
    inputs = speech.build(ctx)
    samples = inputs.kwargs["input_values"].shape[-1]
    return Inputs(
        kwargs={**inputs.kwargs, **_ones(ctx, _SAMPLE_MASKS, samples)},
        assumptions=inputs.assumptions,
    )


def _frames(ctx: InputContext) -> Inputs:
    width, frames = audio.frame_width(ctx), audio.frame_count(ctx)
    kwargs: dict[str, Any] = {"input_features": audio.spectrogram(ctx, width, frames)}
    mask = audio.frame_mask(ctx, frames)
    kwargs |= {name: mask for name in _FRAME_MASKS if accepts(ctx, name)}
    kwargs |= _ones(ctx, ("padding_mask",), frames * _HOP)  # over the samples behind the frames
    if accepts(ctx, "chunk_sample_lengths"):
        kwargs["chunk_sample_lengths"] = torch.tensor([frames * _HOP] * ctx.settings.batch)
    return Inputs(kwargs=kwargs, assumptions=[audio.say_audio(ctx, width, frames)])


def _ones(ctx: InputContext, names: tuple[str, ...], length: int) -> dict[str, torch.Tensor]:
    ones = torch.ones(ctx.settings.batch, length, dtype=torch.int64)
    return {name: ones for name in names if accepts(ctx, name)}
