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


def _image_attention_mask(ctx: InputContext, given: Mapping[str, Any]) -> torch.Tensor | None:
    """Let every token see the one image: (batch, tokens, images)."""
    if "pixel_values" not in given or not accepts(ctx, "perceiver_embeddings"):
        return None
    return torch.ones(ctx.settings.batch, given["input_ids"].shape[1], 1, dtype=torch.int64)


def _lang_ids(ctx: InputContext, given: Mapping[str, Any]) -> torch.Tensor | None:
    """Pick the first language of X-MOD, unless its config has a default one."""
    del given
    if getattr(ctx.config, "default_language", None) is not None:
        return None
    return torch.zeros(ctx.settings.batch, dtype=torch.int64)


def _codebook_pixels(ctx: InputContext, given: Mapping[str, Any]) -> Floats:
    """Give the image that FLAVA's codebook tokenises, at the size of its config."""
    del given
    size = find_int(section(ctx.config, "codebook"), "input_size", "image_size", default=112)
    return Floats(shape=(ctx.settings.batch, 3, size, size))


def _no_patch_masked(ctx: InputContext, given: Mapping[str, Any]) -> torch.Tensor | None:
    if "pixel_values" not in given or not accepts(ctx, "codebook_pixel_values"):
        return None
    part = section(ctx.config, "image")
    side = find_int(part, "image_size", default=224) // find_int(part, "patch_size", default=16)
    return torch.zeros(ctx.settings.batch, side, side, dtype=torch.int64)


def _frames(ctx: InputContext, given: Mapping[str, Any]) -> Floats:
    """Give codecs that listen twice the features of the same clip: 50 frames a second."""
    samples = given["input_values"].shape[-1]
    width = find_int(ctx.config, "feature_projection_input_dim", "num_mel_bins", default=160)
    return Floats(shape=(ctx.settings.batch, samples // 320, width))


def _one(value: int) -> Callable[[InputContext, Mapping[str, Any]], torch.Tensor]:
    def make(ctx: InputContext, given: Mapping[str, Any]) -> torch.Tensor:
        del given
        return torch.full((ctx.settings.batch, 1), value)

    return make


def _task(ctx: InputContext, given: Mapping[str, Any]) -> torch.Tensor:
    """Give the sentence that names the task, as long as OneFormer's task encoder reads."""
    del given
    return token_ids(
        ctx.config, ctx.settings.batch, find_int(ctx.config, "task_seq_len", default=77)
    )


def _zeros(ctx: InputContext, given: Mapping[str, Any]) -> torch.Tensor:
    del given
    return torch.zeros(ctx.settings.batch, 1, dtype=torch.int64)


def _padding(ctx: InputContext, given: Mapping[str, Any]) -> torch.Tensor:
    """Say that no value of the window is padding."""
    return torch.zeros(ctx.settings.batch, given["past_values"].shape[1], dtype=torch.int64)


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
    "image_attention_mask": _image_attention_mask,
    "lang_ids": _lang_ids,
    "codebook_pixel_values": _codebook_pixels,
    "bool_masked_pos": _no_patch_masked,
}
"""Arguments that have a default but without which half of the model would be skipped."""

_WHEN_REQUIRED: dict[str, Callable[[InputContext, Mapping[str, Any]], Any]] = {
    "qformer_input_ids": _tokens("qformer"),
    "input_features": _frames,
    "marks": _one(1),
    "num_options": _one(2),
    "question_type_ids": _one(0),
    "task_inputs": _task,
    "freq": _zeros,
    "past_values_padding": _padding,
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
