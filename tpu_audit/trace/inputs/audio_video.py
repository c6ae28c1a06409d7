"""Films: a clip and its sound together (PE audio-video)."""

from __future__ import annotations

from tpu_audit.trace.inputs import speech, video
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts


def applies(ctx: InputContext) -> bool:
    """Tell whether the model encodes both in one; without either it has nothing to compare."""
    return accepts(ctx, "input_values", "pixel_values_videos", "padding_mask_videos")


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` films without a word of text."""
    seen, heard = video.build(ctx), speech.build(ctx)
    return Inputs(
        kwargs={**seen.kwargs, **heard.kwargs},
        assumptions=[*seen.assumptions, *heard.assumptions],
    )


BUILDER = Builder(name="audio and video", applies=applies, build=build)
