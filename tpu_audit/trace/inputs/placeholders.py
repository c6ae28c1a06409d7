"""Prompts that hold placeholders: as many as the model makes features of the image or clip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from tpu_audit.trace.inputs.extras import missing
from tpu_audit.trace.inputs.fields import as_int, own, text_section
from tpu_audit.trace.inputs.lengths import position_limit
from tpu_audit.trace.inputs.signature import accepts, fitting, needed
from tpu_audit.trace.inputs.tokens import placeholder_id, token_ids
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tpu_audit.trace.inputs.interface import InputContext


@dataclass(frozen=True, kw_only=True, slots=True)
class Modality:
    """How configs name the tokens of one modality."""

    name: str
    """As in ``get_<name>_features``."""
    sections: tuple[str, ...]
    """Config sections of its encoder: a None there means that the model was built without."""
    tokens: tuple[str, ...]
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    token_type: int
    """What a processor writes into ``mm_token_type_ids`` at its placeholders."""


IMAGE = Modality(
    name="image",
    sections=("vision_config",),
    tokens=(
        "image_token_id",
        "image_token_index",
        "media_placeholder_token_id",
        "img_context_token_id",
    ),
    starts=("vision_start_token_id", "boi_token_id", "boi_token_index", "image_start_token_id"),
    ends=("vision_end_token_id", "eoi_token_id", "eoi_token_index", "image_end_token_id"),
    token_type=1,
)
VIDEO = Modality(
    name="video",
    sections=("vision_config",),
    tokens=("video_token_id", "video_token_index"),
    starts=("vision_start_token_id", "video_start_token_id"),
    ends=("vision_end_token_id", "video_end_token_id"),
    token_type=2,
)
AUDIO = Modality(
    name="audio",
    sections=("audio_config",),
    tokens=("audio_token_id", "audio_token_index", "sound_context_token_id"),
    starts=("audio_start_token_id", "audio_bos_token_id", "boa_token_id", "boa_token_index"),
    ends=("audio_end_token_id", "audio_eos_token_id", "eoa_token_id", "eoa_token_index"),
    token_type=3,
)


_HOLDERS = ("vlm", "encoder")
"""Parts that do the merging for the whole: of a robot's policy, of an encoder-decoder."""


def merges(ctx: InputContext, modality: Modality) -> bool:
    """Tell whether the model puts features of ``modality`` in the place of tokens."""
    absent = any(getattr(ctx.config, section, ...) is None for section in modality.sections)
    named = placeholder_id(ctx.config, *modality.tokens) is not None
    if absent:
        return False
    if _features_method(ctx, modality) is None:
        return named and _queries(ctx) is not None
    return named or merges_any(ctx)


def merges_any(ctx: InputContext) -> bool:
    """Tell whether the model looks for placeholders in its prompt at all."""
    owners = (ctx.model, getattr(ctx.model, "base_model", ctx.model))
    return any(hasattr(owner, "get_placeholder_mask") for owner in owners)


def _features_method(ctx: InputContext, modality: Modality) -> Callable[..., Any] | None:
    """Return the model's own way from an input of ``modality`` to its features, or its encoder."""
    base = getattr(ctx.model, "base_model", ctx.model)
    parts = (getattr(base, name, None) for name in _HOLDERS)
    owners = (base, ctx.model, *(part for part in parts if part is not None))
    for name in (f"get_{modality.name}_features", f"{modality.name}_tower"):
        for owner in owners:
            method: Callable[..., Any] | None = getattr(owner, name, None)
            if method is not None:
                return method
    return None


def feature_count(ctx: InputContext, modality: Modality, kwargs: Mapping[str, Any]) -> int:
    """Return the features that the model makes of one item of ``kwargs``, by asking it.

    Raises :class:`NotAuditedError` where it cannot be asked.
    """
    method, probe, queries = _features_method(ctx, modality), ctx.probe, _queries(ctx)
    padded = as_int(own(ctx.config, "audio_soft_tokens_per_image"))
    if padded is not None and modality is AUDIO:
        return padded  # Gemma 3n fills up what a shorter clip gives
    if queries is not None and modality is not AUDIO:
        images = kwargs["pixel_values"].shape[1] if modality is VIDEO else 1
        return queries * int(images)
    if method is None or probe is None:
        raise NotAuditedError(
            f"{type(ctx.model).__name__} does not tell how many features an {modality.name} gives",
            stage=Stage.INPUTS,
            code="unknown_placeholders",
        )
    if "input_ids" in needed(method):  # it looks for placeholders itself: the encoder alone counts
        method = getattr(getattr(ctx.model, "base_model", ctx.model), f"{modality.name}_tower")
    extra = missing(ctx, needed(method), kwargs)
    found: Any = probe(method, fitting(method, {**kwargs, **extra}))
    features = getattr(found, "pooler_output", None)
    stacked = getattr(found, "deepstack_features", None)
    if features is None and stacked and isinstance(stacked[0], tuple):
        features = stacked[0][1]  # (layer of the text model, features): as many for each layer
    if features is not None:
        return _vectors(features, _width(ctx)) // ctx.settings.batch
    rows: torch.Tensor = getattr(found, "last_hidden_state", found)
    return int(rows.numel() // rows.shape[-1] // ctx.settings.batch)


def _queries(ctx: InputContext) -> int | None:
    """Return the queries of a Q-Former: as many features as it makes of any image."""
    return as_int(own(ctx.config, "num_query_tokens"))


def _width(ctx: InputContext) -> int:
    """Return the width of the language model (embeddings may be narrower, and projected)."""
    width = as_int(own(text_section(ctx.config), "hidden_size", "d_model", "n_embd"))
    return width or int(ctx.model.get_input_embeddings().weight.shape[-1])  # type: ignore[operator]


def _vectors(features: Any, width: int) -> int:
    """Count vectors of the model's width, as its check does; of another width, count rows."""
    if isinstance(features, torch.Tensor):
        elements = features.numel()
        return elements // (width if elements % width == 0 else features.shape[-1])
    return sum(_vectors(part, width) for part in features)


def prompt(ctx: InputContext, counts: Mapping[Modality, int]) -> tuple[dict[str, Any], list[str]]:
    """Return ids, masks and token types of a prompt with ``counts`` placeholders, and sentences.

    The prompt is: per modality its start token, the placeholders and its end token; then
    ``seq_len`` tokens of text, or fewer where the model has no more positions.
    """
    runs: list[int] = []
    types: list[int] = []
    for modality, count in counts.items():
        ids = _run(ctx.config, modality, count)
        holder = placeholder_id(ctx.config, *modality.tokens)
        runs += ids
        types += [modality.token_type if i == holder else 0 for i in ids]
    length, said = _text_length(ctx, len(runs))
    return _batched(ctx, runs, types, length), said


def _run(config: Any, modality: Modality, count: int) -> list[int]:
    holder = placeholder_id(config, *modality.tokens)
    if holder is None:
        raise NotAuditedError(
            f"the config names no placeholder token for {modality.name}",
            stage=Stage.INPUTS,
            code="no_placeholder_token",
            hint=f"set {modality.tokens[0]} in config.json",
        )
    start = placeholder_id(config, *modality.starts)
    end = placeholder_id(config, *modality.ends)
    if start is not None and end is None:  # something ends what was begun: an ordinary token
        end = int(token_ids(config, 1, 1)[0, 0])
    return [
        *([] if start is None else [start]),
        *[holder] * count,
        *([] if end is None else [end]),
    ]


def _text_length(ctx: InputContext, taken: int) -> tuple[int, list[str]]:
    limit, asked = position_limit(ctx), ctx.settings.seq_len
    length = asked if limit is None else max(1, min(asked, limit - taken))
    total = f"text: {ctx.settings.batch} x {length} tokens beside {taken} of other modalities"
    return length, [total]


def _batched(ctx: InputContext, runs: list[int], types: list[int], length: int) -> dict[str, Any]:
    batch = ctx.settings.batch
    words = token_ids(ctx.config, batch, length)
    held = torch.tensor(runs, dtype=torch.int64).expand(batch, -1)
    ids = torch.cat([words[:, :1], held, words[:, 1:]], dim=1)
    kwargs: dict[str, Any] = {"input_ids": ids}
    if accepts(ctx, "attention_mask"):
        kwargs["attention_mask"] = torch.ones_like(ids)
    row = torch.tensor([0, *types, *[0] * (length - 1)], dtype=torch.int64)
    for name in ("mm_token_type_ids", "token_type_ids"):
        if accepts(ctx, name):
            kwargs[name] = row.expand(batch, -1).contiguous()
    return kwargs
