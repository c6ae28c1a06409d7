"""Inputs for any model: a table of builders, one module a modality, first that applies wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.trace.inputs import (
    assistants,
    audio,
    audio_video,
    codebooks,
    conversation,
    diffusion,
    document,
    encoder_decoder,
    extras,
    kosmos,
    multimodal,
    paired,
    perceiver,
    phi4,
    realtime,
    robotics,
    sessions,
    speech,
    states,
    text,
    time_series,
    timm,
    video,
    vision,
    workarounds,
)
from tpu_audit.trace.inputs.signature import required
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs

BUILDERS: tuple[Builder, ...] = (
    timm.BUILDER,
    robotics.BUILDER,
    sessions.BUILDER,
    assistants.BUILDER,
    audio_video.BUILDER,
    perceiver.BUILDER,
    phi4.BUILDER,
    codebooks.BUILDER,
    kosmos.BUILDER,
    conversation.BUILDER,
    realtime.BUILDER,
    encoder_decoder.BUILDER,
    document.BUILDER,
    multimodal.BUILDER,
    paired.BUILDER,
    time_series.BUILDER,
    video.BUILDER,
    vision.BUILDER,
    speech.BUILDER,
    audio.BUILDER,
    states.BUILDER,
    text.BUILDER,
)


def build_inputs(ctx: InputContext) -> Inputs:
    """Return arguments for the model's forward, with the assumptions behind them.

    Raises :class:`NotAuditedError` (stage ``inputs``) for a forward that no builder serves, or
    whose required arguments the builder that serves it does not know.
    """
    try:
        if diffusion.applies(ctx):
            return diffusion.build(ctx)
        inputs = _builder(ctx).build(ctx)
        extras.complete(ctx, inputs)
        workarounds.apply(ctx, inputs)
    except NotAuditedError:
        raise
    except Exception as error:  # model code runs in here too, when a builder asks the model
        raise NotAuditedError(
            f"no inputs for {type(ctx.model).__name__}: {type(error).__name__}: {error}",
            stage=Stage.INPUTS,
            code="inputs_failed",
            hint="the config may be incomplete",
        ) from error
    inputs.assumptions.extend(_left_out(ctx, inputs))
    missing = sorted(required(ctx) - set(inputs.kwargs))
    if missing:
        raise _unserved(ctx, f"nothing known to give as {', '.join(missing)}")
    return inputs


_MODALITIES = {
    "pixel_values": "images",
    "pixel_values_videos": "videos",
    "input_features": "audio",
    "input_values": "audio",
    "audio_input_ids": "audio tokens",
}


def _left_out(ctx: InputContext, inputs: Inputs) -> list[str]:
    """Say which modalities forward takes and the trace does not show."""
    given = {what for name, what in _MODALITIES.items() if name in inputs.kwargs}
    takes = {what for name, what in _MODALITIES.items() if name in ctx.parameters}
    return [f"not fed: {what}" for what in sorted(takes - given)]


def _builder(ctx: InputContext) -> Builder:
    for builder in BUILDERS:
        if builder.applies(ctx):
            return builder
    raise _unserved(ctx, "no builder knows its main input")


def _unserved(ctx: InputContext, why: str) -> NotAuditedError:
    takes = ", ".join(ctx.parameters)
    return NotAuditedError(
        f"{type(ctx.model).__name__} cannot be fed: {why} (forward takes {takes})",
        stage=Stage.INPUTS,
        code="unknown_inputs",
    )
