"""Audio models on spectrograms: log-mel frames, in the layout of the model's first layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from tpu_audit.trace.inputs.fields import as_int, audio_section, find, find_int, own
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts, is_main, required

if TYPE_CHECKING:
    from collections.abc import Callable

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
_MASKS = ("input_features_mask", "feature_attention_mask", "audio_mel_mask", "attention_mask")
_INPUTS = ("input_features", "audio_mel")

_WIDTHS: dict[str, Callable[[Any], int]] = {
    "granite_speech5": lambda part: 4 * part.num_mel_bins,  # with deltas, stacked in pairs
    "fun_asr_nano": lambda part: part.num_mel_bins * part.num_stacked_frames,
    "gemma4_unified": lambda part: find_int(part, "audio_embed_dim", default=640),
    "gemma4": lambda _part: 128,  # its convolutions fit 128 mel bins; the config names none
    "embedding_gemma2": lambda _part: 128,  # the same encoder
}
"""model_type prefix -> values in a frame, where that is not the number of mel bins."""
_MELS_FIRST = ("qwen3_asr", "qwen3_omni_moe", "dots3_note", "clvp")
"""model_type prefixes whose first layer takes (mels, frames), though not as a wide Conv1d."""
_FRAMES_FIRST = ("speech_to_text", "gemma4_unified", "univnet")
"""model_type prefixes that transpose (frames, mels) before they convolve over time."""

_VIEWS: dict[str, Callable[[Any], int]] = {
    "clap": lambda config: 4 if find(config, "enable_fusion") else 1,
    "clap_audio_model": lambda config: 4 if find(config, "enable_fusion") else 1,
}
"""model_type -> views of a clip, an axis before frames: the whole and three parts when fused."""


def applies(ctx: InputContext) -> bool:
    """Tell whether the main input is a spectrogram."""
    return any(is_main(ctx, name) for name in _INPUTS)


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` spectrograms without padding; a mask of ones where an extractor gives one."""
    mels, frames = frame_width(ctx), frame_count(ctx)
    features = spectrogram(ctx, mels, frames)
    name = next(name for name in _INPUTS if accepts(ctx, name))
    kwargs: dict[str, Any] = {name: features}
    by_frame = features.shape[-1] == mels  # not Whisper's kin: their extractors give no mask
    mask = next((name for name in _MASKS if accepts(ctx, name)), None)
    if mask and (by_frame or mask != "attention_mask" or mask in required(ctx)):
        kwargs[mask] = frame_mask(ctx, frames)
    return Inputs(kwargs=kwargs, assumptions=[say_audio(ctx, mels, frames)])


def frame_width(ctx: InputContext) -> int:
    """Return the values in a frame: mel bins, from the config or else the feature extractor."""
    part = audio_section(ctx.config)
    special = _by_prefix(_WIDTHS, ctx.model_type)
    if special is not None:
        return special(part)
    for content in ctx.spec.processor_configs.values():
        size = as_int(content.get("num_mel_bins")) or as_int(content.get("feature_size"))
        if size and size > 1:  # waveform extractors say 1
            return size
    return as_int(own(part, *_MEL_NAMES)) or find_int(ctx.config, *_MEL_NAMES, default=_MELS)


def frame_count(ctx: InputContext) -> int:
    """Return the frames of a clip: Whisper-like encoders take one length and no other."""
    positions = as_int(own(audio_section(ctx.config), "max_source_positions"))
    fixed = positions is not None and _convolves(ctx, frame_width(ctx))
    return positions * _WHISPER_STRIDE if positions and fixed else _FRAMES


def spectrogram(ctx: InputContext, mels: int, frames: int) -> Floats:
    """Return (batch, mels, frames) or (batch, frames, mels).

    The first is for encoders that open with a convolution over time, the second for all others.
    """
    shape = (mels, frames) if _convolves(ctx, mels) else (frames, mels)
    views = () if ctx.model_type not in _VIEWS else (_VIEWS[ctx.model_type](ctx.config),)
    return Floats(shape=(ctx.settings.batch, *views, *shape))


def frame_mask(ctx: InputContext, frames: int) -> torch.Tensor:
    """Return a mask of ones over frames, of the dtype that the extractor gives."""
    dtype = torch.bool if ctx.model_type.startswith("gemma") else torch.int64
    return torch.ones(ctx.settings.batch, frames, dtype=dtype)


def _convolves(ctx: InputContext, mels: int) -> bool:
    if ctx.model_type.startswith(_MELS_FIRST):
        return True
    if ctx.model_type.startswith(_FRAMES_FIRST):
        return False
    return any(
        isinstance(module, nn.Conv1d) and module.in_channels == mels and module.groups == 1
        for module in ctx.model.modules()
    )


def say_audio(ctx: InputContext, mels: int, frames: int) -> str:
    """Describe a batch of spectrograms in a sentence."""
    return f"audio: {ctx.settings.batch} x {frames} frames of {mels} values, no padding"


def _by_prefix(
    table: dict[str, Callable[[Any], int]], model_type: str
) -> Callable[[Any], int] | None:
    return next((row for prefix, row in table.items() if model_type.startswith(prefix)), None)


BUILDER = Builder(name="audio", applies=applies, build=build)
