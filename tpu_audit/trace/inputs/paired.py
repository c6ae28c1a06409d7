"""Two inputs side by side: text, and an image or clip that is not merged into the prompt.

Contrastive towers, open-vocabulary detectors, captioners, question answering on images.
"""

from __future__ import annotations

from tpu_audit.trace.inputs import audio, multimodal, speech, text, video, vision
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.placeholders import merges_any
from tpu_audit.trace.inputs.signature import accepts, is_main

_OTHERS = {
    "pixel_values_videos": ({"video"}, video.BUILDER),
    "pixel_values": ({"image", "video"}, vision.BUILDER),
    "input_features": ({"audio"}, audio.BUILDER),
    "input_values": ({"audio"}, speech.BUILDER),
}


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes text and another modality that the class says it has."""
    merged = multimodal.applies(ctx) or merges_any(ctx)
    return accepts(ctx, "input_ids") and _other(ctx) is not None and not merged


def build(ctx: InputContext) -> Inputs:
    """Give as many texts as images (or clips), so that they pair up."""
    words, rest = text.build(ctx), (_other(ctx) or vision.BUILDER).build(ctx)
    return Inputs(
        kwargs={**rest.kwargs, **words.kwargs},
        assumptions=[*words.assumptions, *rest.assumptions],
    )


def _other(ctx: InputContext) -> Builder | None:
    said = set(getattr(ctx.model, "input_modalities", ()))
    for name, (modalities, builder) in _OTHERS.items():
        paired = bool(said & modalities) or is_main(ctx, name) or accepts(ctx, "return_loss")
        if accepts(ctx, name) and paired:
            clips = "video" in said or hasattr(ctx.model, "get_video_features")
            return video.BUILDER if name == "pixel_values" and clips else builder
    return None


BUILDER = Builder(name="paired", applies=applies, build=build)
