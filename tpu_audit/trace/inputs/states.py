"""Parts of models, fed by another part: hidden states, latents, queries, waveforms by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts, required

if TYPE_CHECKING:
    from collections.abc import Callable

_STEPS = 64


def _sequence(*names: str) -> Callable[[InputContext], tuple[int, ...]]:
    """Return a maker of (batch, steps, width), the width under the first of ``names`` set."""

    def shape(ctx: InputContext) -> tuple[int, ...]:
        width = find_int(ctx.config, *names, "hidden_size", "d_model", default=1)
        return (ctx.settings.batch, _STEPS, width)

    return shape


def _channels_first(*names: str) -> Callable[[InputContext], tuple[int, ...]]:
    """Return a maker of (batch, width, steps)."""

    def shape(ctx: InputContext) -> tuple[int, ...]:
        width = find_int(ctx.config, *names, "hidden_size", default=1)
        return (ctx.settings.batch, width, _STEPS)

    return shape


def _waveform(ctx: InputContext) -> tuple[int, ...]:
    channels = find_int(ctx.config, "channels", "audio_channels", default=1)
    return (ctx.settings.batch, channels, find_int(ctx.config, "hop_length", default=1) * _STEPS)


def _context(ctx: InputContext) -> tuple[int, ...]:
    layers = len(getattr(ctx.config, "target_layer_ids", None) or [0])
    return (ctx.settings.batch, _STEPS, ctx.config.hidden_size * layers)


_SHAPES: dict[str, Callable[[InputContext], tuple[int, ...]]] = {
    "query_embeds": _sequence(),
    "encoder_hidden_states": _sequence("encoder_hidden_size"),
    "inputs_embeds": _sequence(),
    "latents": _channels_first("latent_dim"),
    "noise_embeds": _sequence(),
    "context_hidden_states": _context,
    "hidden_states": _sequence(),
}
"""Argument -> its shape."""
_BY_TYPE: dict[tuple[str, str], Callable[[InputContext], tuple[int, ...]]] = {
    ("vibevoice_acoustic_tokenizer_encoder", "hidden_states"): _waveform,
    ("vibevoice_acoustic_tokenizer_decoder", "hidden_states"): _channels_first(),
    ("pocket_tts_audio_tokenizer_decoder", "latents"): _channels_first(),  # after the projection
}
"""(model_type, argument) -> its shape, where the name says too little."""
_ALSO = {"query_embeds": ("encoder_hidden_states",)}
"""Argument -> others that have defaults but without which the part does nothing."""


def applies(ctx: InputContext) -> bool:
    """Tell whether all that forward needs are states of other parts."""
    wanted = required(ctx)
    main = getattr(ctx.model, "main_input_name", "")
    return (bool(wanted) and wanted <= set(_SHAPES)) or (main in _SHAPES and accepts(ctx, main))


def build(ctx: InputContext) -> Inputs:
    """Give states of 64 steps."""
    names = required(ctx)
    if not names:
        names = {str(ctx.model.main_input_name)}
    names |= {also for name in names for also in _ALSO.get(name, ()) if accepts(ctx, also)}
    kwargs: dict[str, Any] = {}
    for name in sorted(names):
        shape = _BY_TYPE.get((ctx.model_type, name), _SHAPES[name])
        kwargs[name] = Floats(shape=shape(ctx))
    said = f"states of other parts of the model: {', '.join(sorted(names))}, {_STEPS} steps"
    return Inputs(kwargs=kwargs, assumptions=[said])


BUILDER = Builder(name="states", applies=applies, build=build)
