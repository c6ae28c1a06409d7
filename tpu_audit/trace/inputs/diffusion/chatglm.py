"""ChatGLM as Kolors uses it: an encoder of the prompt."""

from __future__ import annotations

import torch

from tpu_audit.trace.inputs.interface import InputContext, Inputs

_TEXT = 256
"""Tokens of the prompt, to which the pipeline pads."""


def build(ctx: InputContext) -> Inputs:
    """Give a prompt of full length, and ask for the states of all layers, as the pipeline does."""
    ids = torch.ones(ctx.settings.batch, _TEXT, dtype=torch.int64)
    positions = torch.arange(_TEXT).expand(ctx.settings.batch, -1)
    return Inputs(
        kwargs={
            "input_ids": ids,
            "attention_mask": torch.ones_like(ids),
            "position_ids": positions,
            "output_hidden_states": True,
        },
        assumptions=[f"text: {ctx.settings.batch} x {_TEXT} tokens, no padding"],
    )


CLASSES = {"ChatGLMModel": build}
