"""Drafting models that attend to the keys and values of the model they draft for (Gemma 4)."""

from __future__ import annotations

from typing import Any

from tpu_audit.trace.inputs.fields import text_section
from tpu_audit.trace.inputs.interface import Builder, Floats, InputContext, Inputs
from tpu_audit.trace.inputs.signature import accepts


def applies(ctx: InputContext) -> bool:
    """Tell whether forward takes another model's keys and values."""
    return accepts(ctx, "inputs_embeds", "shared_kv_states") and hasattr(
        ctx.config, "backbone_hidden_size"
    )


def build(ctx: InputContext) -> Inputs:
    """Give one drafted token, after ``seq_len`` tokens that the other model has seen."""
    text, batch = text_section(ctx.config), ctx.settings.batch
    states = {kind: _states(ctx, text, kind) for kind in sorted(set(text.layer_types))}
    embeds = Floats(shape=(batch, 1, 2 * ctx.config.backbone_hidden_size))
    said = f"a token to draft after {ctx.settings.seq_len} tokens of the model it is drafted for"
    return Inputs(kwargs={"inputs_embeds": embeds, "shared_kv_states": states}, assumptions=[said])


def _states(ctx: InputContext, text: Any, kind: str) -> tuple[Floats, Floats]:
    """Return keys and values of one kind of layers: (batch, heads, tokens, head size)."""
    layer = text.layer_types.index(kind)
    attention: Any = next(
        module
        for module in ctx.model.modules()
        if hasattr(module, "num_key_value_groups") and getattr(module, "layer_idx", None) == layer
    )
    size = attention.head_dim
    heads = attention.q_proj.out_features // size // attention.num_key_value_groups
    one = Floats(shape=(ctx.settings.batch, heads, ctx.settings.seq_len, size))
    return one, one


BUILDER = Builder(name="drafting model", applies=applies, build=build)
