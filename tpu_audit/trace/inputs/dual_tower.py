"""Two towers that are compared: image or audio or video on one side, text on the other."""

from __future__ import annotations

from tpu_audit.trace.inputs import audio, speech, text, video, vision
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts

_OTHERS = {
    "pixel_values": vision.BUILDER,
    "pixel_values_videos": video.BUILDER,
    "input_features": audio.BUILDER,
    "input_values": speech.BUILDER,
}


def applies(ctx: InputContext) -> bool:
    """Tell a contrastive model: text, another modality, and the loss that compares them."""
    return accepts(ctx, "input_ids", "return_loss") and any(accepts(ctx, n) for n in _OTHERS)


def build(ctx: InputContext) -> Inputs:
    """Give as many texts as images (or clips), so that they pair up."""
    other = next(builder for name, builder in _OTHERS.items() if accepts(ctx, name))
    words, rest = text.build(ctx), other.build(ctx)
    return Inputs(
        kwargs={**rest.kwargs, **words.kwargs},
        assumptions=[*words.assumptions, *rest.assumptions],
    )


BUILDER = Builder(name="dual tower", applies=applies, build=build)
