"""Encoder-decoder models: the encoder's modality, and token ids for the decoder."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs import audio, document, multimodal, speech, text, vision
from tpu_audit.trace.inputs.fields import as_int, own
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.lengths import sequence_length
from tpu_audit.trace.inputs.signature import accepts, required
from tpu_audit.trace.inputs.tokens import token_ids

_ENCODERS = (
    document.BUILDER,
    multimodal.BUILDER,
    audio.BUILDER,
    speech.BUILDER,
    vision.BUILDER,
    text.BUILDER,
)
_TARGET_LIMITS = ("max_target_positions",)


def applies(ctx: InputContext) -> bool:
    """Tell whether the model has a decoder of its own beside an encoder that we can feed."""
    if not accepts(ctx, "decoder_input_ids"):
        return False
    decodes = bool(own(ctx.config, "is_encoder_decoder")) or "decoder_input_ids" in required(ctx)
    return decodes and any(encoder.applies(ctx) for encoder in _ENCODERS)


def build(ctx: InputContext) -> Inputs:
    """Give the encoder its input and the decoder ``seq_len`` tokens."""
    encoder = next(encoder for encoder in _ENCODERS if encoder.applies(ctx))
    inputs = encoder.build(ctx)
    kwargs, assumptions = decoder_part(ctx)
    return Inputs(
        kwargs={**inputs.kwargs, **kwargs}, assumptions=[*inputs.assumptions, *assumptions]
    )


def decoder_part(ctx: InputContext) -> tuple[dict[str, Any], list[str]]:
    """Return the decoder's arguments, and sentences on them."""
    assumptions: list[str] = []
    length = sequence_length(ctx, assumptions)
    limit = as_int(own(ctx.config, *_TARGET_LIMITS))
    length = min(length, limit) if limit else length
    ids = token_ids(ctx.config, ctx.settings.batch, length)
    kwargs: dict[str, Any] = {"decoder_input_ids": ids}
    if "decoder_attention_mask" in required(ctx):
        kwargs["decoder_attention_mask"] = torch.ones_like(ids)
    return kwargs, [*assumptions, text.say_tokens(ctx, length, "decoder")]


BUILDER = Builder(name="encoder-decoder", applies=applies, build=build)
