"""How many tokens a sequence may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpu_audit.trace.inputs.diffusion import prompts
from tpu_audit.trace.inputs.fields import as_int, own, text_section

if TYPE_CHECKING:
    from torch import nn

    from tpu_audit.trace.inputs.interface import InputContext

_LIMITS = (
    "max_position_embeddings",
    "n_positions",
    "max_sequence_length",
    "max_seq_length",
    "max_seq_len",
    "max_length_positions",
    "max_target_positions",
)


def sequence_length(ctx: InputContext, assumptions: list[str]) -> int:
    """Return ``seq_len`` of the settings, or what the positions of the model allow.

    A text encoder of a pipeline gets as many tokens as the pipeline pads prompts to.
    """
    asked = prompts.padded_length(ctx) or ctx.settings.seq_len
    limit = position_limit(ctx)
    if limit is None or asked <= limit:
        return asked
    assumptions.append(f"sequence of {limit} tokens, not {asked}: the model has no more positions")
    return limit


def position_limit(ctx: InputContext) -> int | None:
    """Return the largest number of positions, or None where the config states none."""
    limit = as_int(own(text_section(ctx.config), *_LIMITS))
    return None if limit is None else max(1, limit - _reserved_positions(ctx.model))


def _reserved_positions(model: nn.Module) -> int:
    """Return the positions below the first token: RoBERTa's numbering starts after padding."""
    for name, module in model.named_modules():
        padding: Any = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and isinstance(padding, int):
            return padding + 1
    return 0
