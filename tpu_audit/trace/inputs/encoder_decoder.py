"""Encoder-decoder models: the encoder's modality, and token ids for the decoder."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs import audio, document, multimodal, speech, text, vision
from tpu_audit.trace.inputs.fields import as_int, find_int, own, text_section
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.lengths import sequence_length
from tpu_audit.trace.inputs.signature import accepts, is_main, required
from tpu_audit.trace.inputs.tokens import placeholder_id, token_ids

_ENCODERS = (
    document.BUILDER,
    multimodal.BUILDER,
    audio.BUILDER,
    speech.BUILDER,
    vision.BUILDER,
    text.BUILDER,
)
_TARGET_LIMITS = ("max_target_positions",)
_MELS = 80
_CODEBOOKS = ("dia",)
"""model_types whose decoder reads (batch, steps, codebooks)."""
_DECODER_INPUTS = ("decoder_input_ids", "decoder_input_values")

_EMBEDDED = ("pop2piano",)
"""model_types whose spectrogram is as wide as the model."""
_WITHOUT_PRENETS = ("SpeechT5Model",)
"""Classes that take what a head's prenets make of speech or text."""


def applies(ctx: InputContext) -> bool:
    """Tell whether the model has a decoder of its own beside an encoder that we can feed."""
    if not any(accepts(ctx, name) for name in _DECODER_INPUTS):
        return False
    parts = (ctx.config, text_section(ctx.config))
    decodes = any(own(part, "is_encoder_decoder") for part in parts)
    asks = bool(required(ctx) & set(_DECODER_INPUTS))
    return (decodes or asks) and _encoder(ctx) is not None


def _encoder(ctx: InputContext) -> Builder | None:
    """Return the builder of the encoder's input; composites call any input ``inputs``."""
    if is_main(ctx, "inputs"):
        main = getattr(getattr(ctx.model, "encoder", None), "main_input_name", None)
        return audio.BUILDER if main == "input_features" else speech.BUILDER
    return next((encoder for encoder in _ENCODERS if encoder.applies(ctx)), None)


def build(ctx: InputContext) -> Inputs:
    """Give the encoder its input, ended as a tokenizer ends it, and the decoder its own."""
    encoder = _encoder(ctx) or text.BUILDER
    if type(ctx.model).__name__ in _WITHOUT_PRENETS:
        return _states(ctx, "input_values", "decoder_input_values")
    if ctx.model_type in _EMBEDDED:
        heard, decoder = _states(ctx, "input_features"), _tokens(ctx)
        return Inputs(
            kwargs={**heard.kwargs, **decoder.kwargs},
            assumptions=[*heard.assumptions, *decoder.assumptions],
        )
    inputs = encoder.build(ctx)
    if encoder is text.BUILDER:
        inputs.kwargs["input_ids"] = _ended(ctx, inputs.kwargs["input_ids"])
    decoder = _frames(ctx) if accepts(ctx, "decoder_input_values") else _tokens(ctx)
    return Inputs(
        kwargs={**inputs.kwargs, **decoder.kwargs},
        assumptions=[*inputs.assumptions, *decoder.assumptions],
    )


def _states(ctx: InputContext, *names: str) -> Inputs:
    width = find_int(ctx.config, "hidden_size", "d_model", default=1)
    one = Floats(shape=(ctx.settings.batch, ctx.settings.seq_len, width))
    return Inputs(
        kwargs=dict.fromkeys(names, one),
        assumptions=[f"{' and '.join(names)}: {ctx.settings.seq_len} steps of the model's width"],
    )


def _ended(ctx: InputContext, ids: torch.Tensor) -> torch.Tensor:
    """Put the end token last: sequence classifiers read its state, and refuse a text without."""
    end = placeholder_id(ctx.config, "eos_token_id")
    if end is None:
        return ids
    return torch.cat([ids[:, :-1], torch.full_like(ids[:, -1:], end)], dim=1)


def _tokens(ctx: InputContext) -> Inputs:
    assumptions: list[str] = []
    part = _decoder_section(ctx.config)
    length = sequence_length(ctx, assumptions)
    limit = as_int(own(ctx.config, *_TARGET_LIMITS)) or as_int(own(part, *_TARGET_LIMITS))
    length = min(length, limit) if limit else length
    ids = token_ids(part, ctx.settings.batch, length)
    books = as_int(own(part, "num_channels")) if ctx.model_type in _CODEBOOKS else None
    if books:  # audio decoders: one token a codebook at each step
        ids = ids[..., None].expand(-1, -1, books).contiguous()
    kwargs: dict[str, Any] = {"decoder_input_ids": ids}
    if "decoder_attention_mask" in required(ctx):
        kwargs["decoder_attention_mask"] = torch.ones(ids.shape[:2], dtype=torch.int64)
    said = text.say_tokens(ctx, length, "decoder")
    return Inputs(kwargs=kwargs, assumptions=[*assumptions, said])


def _decoder_section(config: Any) -> Any:
    for name in ("decoder", "decoder_config"):
        part = getattr(config, name, None)
        if hasattr(part, "model_type"):
            return part
    return config


def _frames(ctx: InputContext) -> Inputs:
    """Give the decoder spectrogram frames, and the voice it speaks in (SpeechT5)."""
    batch, length = ctx.settings.batch, ctx.settings.seq_len
    mels = find_int(ctx.config, "num_mel_bins", default=_MELS)
    kwargs: dict[str, Any] = {"decoder_input_values": Floats(shape=(batch, length, mels))}
    voice = as_int(own(ctx.config, "speaker_embedding_dim"))
    if voice and accepts(ctx, "speaker_embeddings"):
        kwargs["speaker_embeddings"] = Floats(shape=(batch, voice))
    said = f"decoder: {batch} x {length} frames of {mels} mel bins"
    return Inputs(kwargs=kwargs, assumptions=[said])


BUILDER = Builder(name="encoder-decoder", applies=applies, build=build)
