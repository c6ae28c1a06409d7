"""Speech in context: what was said before, as a waveform for the model's own codec (CSM)."""

from __future__ import annotations

import torch

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.placeholders import AUDIO, prompt
from tpu_audit.trace.inputs.signature import accepts

_FRAMES = 25
"""Two seconds at the 12.5 frames a second of the codec."""
_FRAME = 1920
"""Samples a frame: 24 kHz at 12.5 frames a second."""


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes waveforms and where each of them ends."""
    return accepts(ctx, "input_ids", "input_values", "input_values_cutoffs")


def build(ctx: InputContext) -> Inputs:
    """Give one utterance of context an item, and one placeholder for each of its frames."""
    frame = find_int(getattr(ctx.config, "codec_config", None), "frame_size", default=_FRAME)
    samples, batch = _FRAMES * frame, ctx.settings.batch
    words, said = prompt(ctx, {AUDIO: _FRAMES})
    said.append(f"speech: {batch} x {samples} samples of context, {_FRAMES} placeholder tokens")
    return Inputs(
        kwargs={
            **words,
            "input_values": Floats(shape=(batch, 1, samples)),
            "input_values_cutoffs": torch.tensor([[samples]] * batch),
        },
        assumptions=said,
    )


BUILDER = Builder(name="speech in context", applies=applies, build=build)
