"""Text models: token ids and an attention mask, as a tokenizer gives them."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.lengths import sequence_length
from tpu_audit.trace.inputs.signature import accepts, is_main, main_inputs
from tpu_audit.trace.inputs.tokens import token_ids

_CHOICES = 2
"""Answers to choose among."""


def applies(ctx: InputContext) -> bool:
    """Tell whether the main input is token ids."""
    return is_main(ctx, "input_ids") or (
        accepts(ctx, "input_ids") and not any(accepts(ctx, name) for name in main_inputs(ctx))
    )


def build(ctx: InputContext) -> Inputs:
    """Give ``batch`` full sequences of ``seq_len`` ordinary tokens."""
    assumptions: list[str] = []
    length = sequence_length(ctx, assumptions)
    assumptions.append(say_tokens(ctx, length))
    kwargs = prompt(ctx, length)
    if type(ctx.model).__name__.endswith("MultipleChoice"):
        kwargs = {name: value.unsqueeze(1).repeat(1, _CHOICES, 1) for name, value in kwargs.items()}
        assumptions.append(f"{_CHOICES} choices for each text")
    return Inputs(kwargs=kwargs, assumptions=assumptions)


def prompt(ctx: InputContext, length: int) -> dict[str, Any]:
    """Return ``input_ids`` and, where forward takes one, an ``attention_mask`` of ones."""
    ids = token_ids(ctx.config, ctx.settings.batch, length)
    question = getattr(ctx.config, "question_token_id", None)
    if isinstance(question, int):  # Splinter answers at its question tokens
        ids = torch.cat([ids[:, :-1], torch.full_like(ids[:, -1:], question)], dim=1)
    kwargs: dict[str, Any] = {"input_ids": ids}
    if accepts(ctx, "attention_mask"):
        kwargs["attention_mask"] = torch.ones_like(ids)
    return kwargs


def say_tokens(ctx: InputContext, length: int, what: str = "text") -> str:
    """Describe a batch of token sequences in a sentence."""
    return f"{what}: {ctx.settings.batch} x {length} tokens, no padding"


BUILDER = Builder(name="text", applies=applies, build=build)
