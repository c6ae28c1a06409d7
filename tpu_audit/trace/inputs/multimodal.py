"""Language models that see or hear: a prompt with exactly the placeholders its features need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tpu_audit.trace.inputs import pixels, sounds
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.placeholders import (
    AUDIO,
    IMAGE,
    Modality,
    feature_count,
    features_of,
    prompt,
)
from tpu_audit.trace.inputs.signature import accepts, is_main


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes tokens and something that the model turns into features."""
    return is_main(ctx, "input_ids") and any(True for _ in _modalities(ctx))


def build(ctx: InputContext) -> Inputs:
    """Give one image and one clip an item, whichever the model takes, and a prompt about them."""
    kwargs: dict[str, Any] = {}
    assumptions: list[str] = []
    counts: dict[str, int] = {}
    for modality, inputs in _modalities(ctx):
        counts[modality.name] = feature_count(ctx, modality, inputs.kwargs)
        kwargs |= inputs.kwargs
        assumptions += inputs.assumptions
        assumptions.append(f"{counts[modality.name]} placeholder tokens for each {modality.name}")
    words, said = prompt(ctx, counts, (IMAGE, AUDIO))
    return Inputs(kwargs={**words, **kwargs}, assumptions=[*said, *assumptions])


def _modalities(ctx: InputContext) -> Iterator[tuple[Modality, Inputs]]:
    if accepts(ctx, "pixel_values") and features_of(ctx, IMAGE):
        yield IMAGE, pixels.image(ctx)
    if sounds.applies(ctx) and features_of(ctx, AUDIO):
        yield AUDIO, sounds.clip(ctx)


BUILDER = Builder(name="multimodal prompt", applies=applies, build=build)
