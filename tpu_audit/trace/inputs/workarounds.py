"""Repairs of classes that fail for reasons of their own, beside the model's ops.

Each says in the assumptions what it did, and does nothing where the library is sound.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tpu_audit.trace.inputs.interface import InputContext, Inputs


def _llama4_outputs() -> str | None:
    """Give Llama 4 the ``image_outputs`` it copies from its language model, which has none."""
    from transformers.modeling_outputs import MoeCausalLMOutputWithPast

    if any(field.name == "image_outputs" for field in fields(MoeCausalLMOutputWithPast)):
        return None
    MoeCausalLMOutputWithPast.image_outputs = None
    return (
        "repaired: after its last op this transformers' Llama4ForConditionalGeneration raises "
        "AttributeError on image_outputs"
    )


_BY_CLASS: dict[str, Callable[[], str | None]] = {
    "Llama4ForConditionalGeneration": _llama4_outputs,
}


def apply(ctx: InputContext, inputs: Inputs) -> None:
    """Repair the model's class where that is known to be needed, and say so."""
    repair = _BY_CLASS.get(type(ctx.model).__name__)
    said = repair() if repair else None
    if said:
        inputs.assumptions.append(said)
