"""Audio models on spectrograms: log-mel frames, in the layout of the model's first layer."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tpu_audit.trace.inputs.fields import as_int, audio_section, find_int, own
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts, is_main, required

_MEL_NAMES = (
    "num_mel_bins",
    "n_mels",
    "feature_size",
    "input_feat_per_channel",
    "num_mel_channels",
    "feature_projection_input_dim",
    "input_feat_size",
    "mel_bins",
    "input_dim",
)
_MELS = 80
_FRAMES = 1000
"""Ten seconds at the usual 100 frames a second."""
_WHISPER_STRIDE = 2
MASKS = ("attention_mask", "input_features_mask", "feature_attention_mask")
"""Names under which models take the mask over frames."""


def applies(ctx: InputContext) -> bool:
    """Tell whether the main input is a spectrogram."""
    return is_main(ctx, "input_features")


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` spectrograms without padding."""
    mels, frames = mel_bins(ctx.config), frame_count(ctx.config)
    kwargs: dict[str, Any] = {"input_features": spectrogram(ctx, mels, frames)}
    mask = next((name for name in MASKS if name in required(ctx)), None)
    if mask:
        kwargs[mask] = torch.ones(ctx.settings.batch, frames, dtype=torch.int64)
    return Inputs(kwargs=kwargs, assumptions=[say_audio(ctx, mels, frames)])


def mel_bins(config: Any) -> int:
    """Return the number of values in a frame."""
    value = as_int(own(audio_section(config), *_MEL_NAMES))
    return value or find_int(config, *_MEL_NAMES, default=_MELS)


def frame_count(config: Any) -> int:
    """Return the frames of a clip: Whisper-like encoders take one length and no other."""
    positions = as_int(own(audio_section(config), "max_source_positions"))
    return positions * _WHISPER_STRIDE if positions else _FRAMES


def spectrogram(ctx: InputContext, mels: int, frames: int) -> Floats:
    """Return (batch, mels, frames) for encoders that open with a 1-d convolution over time,
    else (batch, frames, mels)."""
    convolves = any(
        isinstance(module, nn.Conv1d) and module.in_channels == mels and module.kernel_size[0] > 1
        for module in ctx.model.modules()
    )
    shape = (mels, frames) if convolves else (frames, mels)
    return Floats(shape=(ctx.settings.batch, *shape))


def say_audio(ctx: InputContext, mels: int, frames: int) -> str:
    """Describe a batch of spectrograms in a sentence."""
    return f"audio: {ctx.settings.batch} x {frames} frames of {mels} mel bins, no padding"


def takes_features(ctx: InputContext) -> bool:
    """Tell whether forward takes spectrograms at all."""
    return accepts(ctx, "input_features")


BUILDER = Builder(name="audio", applies=applies, build=build)
