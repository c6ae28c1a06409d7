"""Arguments known by their name alone, whatever the model: filled in when forward needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace.inputs.fields import find, find_int, section
from tpu_audit.trace.inputs.interface import Floats, InputContext
from tpu_audit.trace.inputs.signature import accepts, required
from tpu_audit.trace.inputs.tokens import token_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tpu_audit.trace.inputs.interface import Inputs

_QUESTION = 16
"""Tokens of the question that a Q-Former reads beside the image."""
_BOXES = 36
"""Boxes that a detector finds in an image for models that take regions."""
_FRAMES = 64
"""Positions of latents and of other encoders' states."""


def _tokens(hint: str) -> Callable[[InputContext, Mapping[str, Any]], torch.Tensor]:
    """Make ids in the vocabulary of the config section that ``hint`` names."""

    def make(ctx: InputContext, given: Mapping[str, Any]) -> torch.Tensor:
        del given
        return token_ids(section(ctx.config, hint), ctx.settings.batch, _QUESTION)

    return make


def _mask(length: int) -> Callable[[InputContext, Mapping[str, Any]], torch.Tensor]:
    def make(ctx: InputContext, given: Mapping[str, Any]) -> torch.Tensor:
        del given
        return torch.ones(ctx.settings.batch, length, dtype=torch.int64)

    return make


def _states(length: int, *names: str) -> Callable[[InputContext, Mapping[str, Any]], Floats]:
    """Make (batch, length, width), the width being the first field of ``names`` that is set."""

    def make(ctx: InputContext, given: Mapping[str, Any]) -> Floats:
        del given
        width = find_int(ctx.config, *names, "hidden_size", "d_model", default=1)
        return Floats(shape=(ctx.settings.batch, length, width))

    return make


def _cross_attention_mask(ctx: InputContext, given: Mapping[str, Any]) -> torch.Tensor | None:
    """Let every token see every tile of the one image: (batch, tokens, images, tiles)."""
    if "aspect_ratio_mask" not in given:
        return None
    tokens, tiles = given["input_ids"].shape[1], given["aspect_ratio_mask"].shape[-1]
    return torch.ones(ctx.settings.batch, tokens, 1, tiles, dtype=torch.int64)


def _is_longer(ctx: InputContext, given: Mapping[str, Any]) -> torch.Tensor:
    """Say that the clip was longer than the window: its four views are fused."""
    del given
    fused = bool(find(ctx.config, "enable_fusion"))
    return torch.full((ctx.settings.batch, 1), fused)


def _boxes(ctx: InputContext, given: Mapping[str, Any]) -> Floats:
    del given
    return Floats(shape=(ctx.settings.batch, _BOXES, 4))


_WHEN_ACCEPTED: dict[str, Callable[[InputContext, Mapping[str, Any]], Any]] = {
    "visual_feats": _states(_BOXES, "visual_feat_dim"),
    "visual_pos": _boxes,
    "visual_embeds": _states(_BOXES, "visual_embedding_dim"),
    "visual_attention_mask": _mask(_BOXES),
    "qformer_attention_mask": _mask(_QUESTION),
    "cross_attention_mask": _cross_attention_mask,
    "is_longer": _is_longer,
}
"""Arguments that have a default but without which half of the model would be skipped."""

_WHEN_REQUIRED: dict[str, Callable[[InputContext, Mapping[str, Any]], Any]] = {
    "qformer_input_ids": _tokens("qformer"),
    "query_embeds": _states(_FRAMES),
    "encoder_hidden_states": _states(_FRAMES, "encoder_hidden_size"),
    "inputs_embeds": _states(_FRAMES),
    "latents": _states(_FRAMES),
}
"""Arguments without a default."""


def complete(ctx: InputContext, inputs: Inputs) -> None:
    """Add to ``inputs`` what forward takes beside what the builder gave."""
    for name, make in _WHEN_ACCEPTED.items():
        if accepts(ctx, name) and name not in inputs.kwargs:
            value = make(ctx, inputs.kwargs)
            if value is not None:
                inputs.kwargs[name] = value
    inputs.kwargs.update(missing(ctx, required(ctx), inputs.kwargs))


def missing(ctx: InputContext, names: set[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of ``names`` that are not given and can be made from their name alone."""
    known = sorted(names & set(_WHEN_REQUIRED) - set(given))
    return {name: _WHEN_REQUIRED[name](ctx, given) for name in known}
