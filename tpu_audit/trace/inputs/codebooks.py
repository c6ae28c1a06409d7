"""Audio language models that read one token a codebook at each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tpu_audit.trace.inputs.fields import find_int
from tpu_audit.trace.inputs.interface import Builder, InputContext, Inputs
from tpu_audit.trace.inputs.lengths import sequence_length
from tpu_audit.trace.inputs.signature import is_main
from tpu_audit.trace.inputs.tokens import token_ids

if TYPE_CHECKING:
    from collections.abc import Callable

_CODEBOOKS = 4


def _one_and_text(ctx: InputContext) -> int:
    return find_int(ctx.config, "num_codebooks", default=_CODEBOOKS) + 1


_LAST_AXIS: dict[str, Callable[[InputContext], int]] = {
    "kyutai_speech_to_text": _one_and_text,  # the text token goes first
}
"""model_type -> size of a last axis of codebooks: ids are (batch, steps, codebooks)."""
_FOLDED = (
    "MusicgenModel",
    "MusicgenForCausalLM",
    "MusicgenMelodyModel",
    "MusicgenMelodyForCausalLM",
)
"""Classes whose ids are (batch x codebooks, steps)."""


def applies(ctx: InputContext) -> bool:
    """Tell the classes that read codebooks."""
    known = ctx.model_type in _LAST_AXIS or type(ctx.model).__name__ in _FOLDED
    return known and is_main(ctx, "input_ids")


def build(ctx: InputContext) -> Inputs:
    """Give ``seq_len`` steps of every codebook."""
    assumptions: list[str] = []
    length, batch = sequence_length(ctx, assumptions), ctx.settings.batch
    axis = _LAST_AXIS.get(ctx.model_type)
    if axis is not None:
        books = axis(ctx)
        ids = token_ids(ctx.config, batch, length)[..., None].expand(-1, -1, books).contiguous()
    else:
        books = find_int(ctx.config, "num_codebooks", default=_CODEBOOKS)
        ids = token_ids(ctx.config, batch * books, length)
    assumptions.append(f"audio tokens: {batch} x {length} steps of {books} codebooks")
    mask = torch.ones(batch, length, dtype=torch.int64)
    return Inputs(kwargs={"input_ids": ids, "attention_mask": mask}, assumptions=assumptions)


BUILDER = Builder(name="codebooks", applies=applies, build=build)
