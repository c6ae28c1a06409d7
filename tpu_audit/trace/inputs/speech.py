"""Speech models and audio codecs on raw waveforms."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.fields import find_int, own
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts, is_main

_RATE = 16_000
"""Samples a second, where neither processor nor config says."""
_SECONDS = 5
_CODEC_ARGUMENTS = ("audio_codes", "n_quantizers", "num_quantizers", "padding_cache")
_WITH_CHANNELS = (
    "vibevoice",
    "pe_audio",
    "pocket_tts_audio_tokenizer",
    "wavtokenizer",
    "neucodec",
    "xcodec2",
    "higgs_audio_v2_tokenizer",
    "dac",
    "omniasr",
)
"""model_type prefixes of (batch, channels, samples) that their arguments do not give away."""
_WITHOUT_CHANNELS = ("muse_spark",)


def applies(ctx: InputContext) -> bool:
    """Tell whether the main input is a waveform."""
    return is_main(ctx, "input_values")


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` clips of five seconds; a mask of ones where the extractor gives one."""
    if _takes_spectrogram(ctx.config):
        return _spectrogram(ctx)
    rate = sampling_rate(ctx)
    samples = _whole_blocks(ctx.config, rate * _SECONDS)
    kwargs: dict[str, Any] = {"input_values": waveform(ctx, samples)}
    if accepts(ctx, "attention_mask") and own(ctx.config, "feat_extract_norm") == "layer":
        kwargs["attention_mask"] = torch.ones(ctx.settings.batch, samples, dtype=torch.int64)
    said = f"speech: {ctx.settings.batch} x {samples} samples at {rate} Hz, no padding"
    return Inputs(kwargs=kwargs, assumptions=[said])


def sampling_rate(ctx: InputContext) -> int:
    """Return samples a second: the feature extractor's, else the config's."""
    for content in ctx.spec.processor_configs.values():
        rate = content.get("sampling_rate")
        if isinstance(rate, int) and rate > 0:
            return rate
    return find_int(ctx.config, "sampling_rate", "sample_rate", default=_RATE)


def _whole_blocks(config: Any, samples: int) -> int:
    """Round down to the samples that some encoders take at once."""
    block = find_int(config, "samples_per_token", "hop_length", "frame_size", default=1)
    return max(block, samples // block * block)


def waveform(ctx: InputContext, samples: int) -> Floats:
    """Return (batch, samples), and for codecs (batch, channels, samples)."""
    channels = find_int(ctx.config, "audio_channels", default=1)
    between = (channels,) if _has_channels(ctx) else ()
    return Floats(shape=(ctx.settings.batch, *between, samples))


def _has_channels(ctx: InputContext) -> bool:
    if ctx.model_type.startswith(_WITHOUT_CHANNELS):
        return False
    codec = any(accepts(ctx, name) for name in _CODEC_ARGUMENTS)
    return codec or ctx.model_type.startswith(_WITH_CHANNELS)


def _takes_spectrogram(config: Any) -> bool:
    """Tell the audio spectrogram transformer, which calls its frames ``input_values`` too."""
    return own(config, "frequency_stride") is not None and own(config, "max_length") is not None


def _spectrogram(ctx: InputContext) -> Inputs:
    frames, mels = int(ctx.config.max_length), int(ctx.config.num_mel_bins)
    said = f"audio: {ctx.settings.batch} x {frames} frames of {mels} mel bins"
    shape = (ctx.settings.batch, frames, mels)
    return Inputs(kwargs={"input_values": Floats(shape=shape)}, assumptions=[said])


BUILDER = Builder(name="speech", applies=applies, build=build)
