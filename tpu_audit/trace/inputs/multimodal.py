"""Language models that see or hear: a prompt with exactly the placeholders its features need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpu_audit.trace.inputs import pixels, sounds
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.placeholders import (
    AUDIO,
    IMAGE,
    VIDEO,
    Modality,
    feature_count,
    merges,
    prompt,
)
from tpu_audit.trace.inputs.signature import accepts

if TYPE_CHECKING:
    from collections.abc import Iterator


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes tokens and something that the model merges into them."""
    return accepts(ctx, "input_ids") and any(True for _ in _modalities(ctx))


def build(ctx: InputContext) -> Inputs:
    """Give one image and one clip an item, whichever the model takes, and a prompt about them."""
    kwargs: dict[str, Any] = {}
    assumptions: list[str] = []
    counts: dict[Modality, int] = {}
    for modality, inputs in _modalities(ctx):
        counts[modality] = feature_count(ctx, modality, inputs.kwargs)
        kwargs |= inputs.kwargs
        assumptions += inputs.assumptions
        assumptions.append(f"{counts[modality]} placeholder tokens for each {modality.name}")
    words, said = prompt(ctx, counts)
    return Inputs(kwargs={**words, **kwargs}, assumptions=[*said, *assumptions])


def _modalities(ctx: InputContext) -> Iterator[tuple[Modality, Inputs]]:
    if accepts(ctx, "pixel_values") and merges(ctx, IMAGE):
        yield IMAGE, pixels.image(ctx)
    elif accepts(ctx, "pixel_values") and merges(ctx, VIDEO):
        yield VIDEO, pixels.clip(ctx)
    if sounds.applies(ctx) and merges(ctx, AUDIO):
        yield AUDIO, sounds.clip(ctx)


BUILDER = Builder(name="multimodal prompt", applies=applies, build=build)
