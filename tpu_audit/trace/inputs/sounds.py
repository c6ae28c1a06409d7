"""How audio-language models take a clip: a spectrogram or a waveform, with its masks."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs import audio, speech
from tpu_audit.trace.inputs.interface import InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts

_FRAME_MASKS = ("input_features_mask", "feature_attention_mask")
_SAMPLE_MASKS = ("padding_mask", "input_values_mask")


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes sound."""
    return accepts(ctx, "input_features") or accepts(ctx, "input_values")


def clip(ctx: InputContext) -> Inputs:
    """Return one clip per item, with masks of ones under every name that forward knows."""
    if accepts(ctx, "input_features"):
        mels, frames = audio.mel_bins(ctx.config), audio.frame_count(ctx.config)
        kwargs: dict[str, Any] = {"input_features": audio.spectrogram(ctx, mels, frames)}
        kwargs |= _ones(ctx, _FRAME_MASKS, frames)
        return Inputs(kwargs=kwargs, assumptions=[audio.say_audio(ctx, mels, frames)])
    rate = speech.sampling_rate(ctx)
    samples = rate * speech.SECONDS
    kwargs = {"input_values": speech.waveform(ctx, samples), **_ones(ctx, _SAMPLE_MASKS, samples)}
    return Inputs(kwargs=kwargs, assumptions=[speech.say_waveform(ctx, rate)])


def _ones(ctx: InputContext, names: tuple[str, ...], length: int) -> dict[str, torch.Tensor]:
    ones = torch.ones(ctx.settings.batch, length, dtype=torch.int64)
    return {name: ones for name in names if accepts(ctx, name)}
