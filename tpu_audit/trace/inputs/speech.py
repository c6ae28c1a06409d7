"""Speech models on raw waveforms."""

from __future__ import annotations

from typing import Any

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.signature import is_main

_RATE = 16_000
"""Samples a second, where neither processor nor config says."""
SECONDS = 5
"""Length of a clip."""


def applies(ctx: InputContext) -> bool:
    """Tell whether the main input is a waveform."""
    return is_main(ctx, "input_values")


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` waveforms of five seconds."""
    rate = sampling_rate(ctx)
    kwargs: dict[str, Any] = {"input_values": waveform(ctx, rate * SECONDS)}
    return Inputs(kwargs=kwargs, assumptions=[say_waveform(ctx, rate)])


def sampling_rate(ctx: InputContext) -> int:
    """Return samples a second: the feature extractor's, else the config's."""
    for content in ctx.spec.processor_configs.values():
        rate = content.get("sampling_rate")
        if isinstance(rate, int) and rate > 0:
            return rate
    return find_int(ctx.config, "sampling_rate", "sample_rate", default=_RATE)


def waveform(ctx: InputContext, samples: int, *between: int) -> Floats:
    """Return (batch, *between, samples)."""
    return Floats(shape=(ctx.settings.batch, *between, samples))


def say_waveform(ctx: InputContext, rate: int) -> str:
    """Describe a batch of waveforms in a sentence."""
    return f"speech: {ctx.settings.batch} x {SECONDS} s at {rate} Hz, no padding"


BUILDER = Builder(name="speech", applies=applies, build=build)
