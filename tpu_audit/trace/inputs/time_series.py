"""Time series models: a window of past values, with the covariates that the config counts."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.fields import find_int, own
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts, is_main, required

_WINDOW = 64


def applies(ctx: InputContext) -> bool:
    """Tell whether the main input is past values."""
    return is_main(ctx, "past_values")


def build(ctx: InputContext) -> Inputs:
    """Give windows as long as the context, plus the lags where the model looks back further."""
    context = find_int(ctx.config, "context_length", "prediction_length", default=_WINDOW)
    lags = own(ctx.config, "lags_sequence") or [0]
    window = context + max(lags)
    kwargs = {"past_values": Floats(shape=_past_shape(ctx, window)), **_covariates(ctx, window)}
    said = f"time series: {ctx.settings.batch} windows of {window} steps"
    return Inputs(kwargs=kwargs, assumptions=[said])


def _past_shape(ctx: InputContext, window: int) -> tuple[int, ...]:
    """Channels come last, and only in models that count them (``num_input_channels``)."""
    channels = own(ctx.config, "num_input_channels")
    size = own(ctx.config, "input_size")
    count = channels or (size if isinstance(size, int) and size > 1 else None)
    return (ctx.settings.batch, window, *([count] if count else []))


def _covariates(ctx: InputContext, window: int) -> dict[str, Any]:
    batch, config, wanted = ctx.settings.batch, ctx.config, required(ctx)
    horizon = find_int(config, "prediction_length", default=_WINDOW)
    features = own(config, "num_time_features") or 0
    kwargs: dict[str, Any] = {}
    if "past_time_features" in wanted:
        kwargs["past_time_features"] = Floats(shape=(batch, window, features))
    if "past_observed_mask" in wanted:
        kwargs["past_observed_mask"] = torch.ones(_past_shape(ctx, window), dtype=torch.int64)
    if accepts(ctx, "future_values", "future_time_features"):
        kwargs["future_values"] = Floats(shape=_past_shape(ctx, horizon))
        kwargs["future_time_features"] = Floats(shape=(batch, horizon, features))
    static = own(config, "num_static_categorical_features") or 0
    if static and accepts(ctx, "static_categorical_features"):
        kwargs["static_categorical_features"] = torch.zeros(batch, static, dtype=torch.int64)
    real = own(config, "num_static_real_features") or 0
    if real and accepts(ctx, "static_real_features"):
        kwargs["static_real_features"] = Floats(shape=(batch, real))
    return kwargs


BUILDER = Builder(name="time series", applies=applies, build=build)
