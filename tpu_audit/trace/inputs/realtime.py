"""Streaming speech models: each audio feature is added to a text token (Voxtral Realtime)."""

from __future__ import annotations

from tpu_audit.trace.inputs import sounds, text
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.placeholders import AUDIO, feature_count
from tpu_audit.trace.inputs.signature import accepts

_ALIGNED = ("voxtral_realtime",)


def applies(ctx: InputContext) -> bool:
    """Tell the models whose prompt is as long as their audio."""
    return ctx.model_type in _ALIGNED and accepts(ctx, "input_ids", "input_features")


def build(ctx: InputContext) -> Inputs:
    """Give a clip, and as many tokens as it has features."""
    clip = sounds.clip(ctx)
    count = feature_count(ctx, AUDIO, clip.kwargs)
    said = f"text: {count} tokens, one for each audio feature, whatever the sequence length asked"
    return Inputs(
        kwargs={**clip.kwargs, **text.prompt(ctx, count)}, assumptions=[*clip.assumptions, said]
    )


BUILDER = Builder(name="aligned speech", applies=applies, build=build)
