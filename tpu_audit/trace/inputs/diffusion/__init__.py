"""Inputs of diffusers components: a table of classes, with the sizes their pipelines use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.trace.inputs.diffusion import (
    autoencoders,
    chatglm,
    cogvideox,
    controlnet,
    cosmos,
    easyanimate,
    flux,
    flux2,
    hunyuan_dit,
    ltx2,
    minimax,
    patches,
    qwen_image,
    safety,
    sd3,
    stable_audio,
    unet,
    wan,
)
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tpu_audit.trace.inputs.interface import InputContext, Inputs

CLASSES: Mapping[str, Callable[[InputContext], Inputs]] = {
    **unet.CLASSES,
    **controlnet.CLASSES,
    **flux.CLASSES,
    **flux2.CLASSES,
    **sd3.CLASSES,
    **patches.CLASSES,
    **qwen_image.CLASSES,
    **wan.CLASSES,
    **cogvideox.CLASSES,
    **cosmos.CLASSES,
    **easyanimate.CLASSES,
    **hunyuan_dit.CLASSES,
    **ltx2.CLASSES,
    **minimax.CLASSES,
    **stable_audio.CLASSES,
    **safety.CLASSES,
    **chatglm.CLASSES,
    **autoencoders.CLASSES,
}
"""Class name -> its builder. A class is fed by its own name: subclasses may differ."""


def applies(ctx: InputContext) -> bool:
    """Tell whether the model is a component of a diffusers pipeline, or of its kind."""
    return ctx.spec.library == "diffusers"


def build(ctx: InputContext) -> Inputs:
    """Return inputs for one step, or one decoding, of the pipeline that the component is of.

    Raises NotAuditedError (stage ``inputs``) for a class that no builder serves.
    """
    name = type(ctx.model).__name__
    make = CLASSES.get(name) or autoencoders.like(ctx)
    if make is None:
        raise NotAuditedError(
            f"{name} cannot be fed: no builder knows its inputs "
            f"(forward takes {', '.join(ctx.parameters)})",
            stage=Stage.INPUTS,
            code="unknown_inputs",
        )
    return make(ctx)
