"""What the numbers of a config are to each other, where that may decide which ops run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_WIDTHS = ("size", "dim", "width", "channels", "d_model", "heads", "rank")
"""Parts of names of fields whose being equal spares a projection or a repetition."""
_NOT_WIDTHS = ("vocab", "image", "patch", "window", "chunk", "kernel", "batch", "type_")
_SPANS = ("window", "chunk")
"""Parts of names of fields that cut a sequence into pieces."""
_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_EVERY = ("interval", "period", "step", "pattern", "first_k", "num_dense")
"""Parts of names of fields that say which of the layers are of another kind."""
_LISTED = ("_layers", "_indices", "_indexes", "_idx")
_HEAD_SIZES = ("head_dim", "v_head_dim", "global_head_dim", "attention_head_dim", "d_kv")
_FUSED_BELOW = 128
"""Attention of heads narrower than this, or of a multiple of it, takes another kernel."""


def relations(config: Mapping[str, Any], seq_len: int) -> list[Any]:
    """Return relations among the numbers of one level of a config, ready for JSON."""
    numbers = {
        name: value
        for name, value in config.items()
        if isinstance(value, int) and not isinstance(value, bool) and value > 0
    }
    return [
        _equal_widths(numbers),
        _heads(numbers),
        _spans(numbers, seq_len),
        _layers(config, numbers),
        _images(numbers),
    ]


def _equal_widths(numbers: Mapping[str, int]) -> list[list[str]]:
    """Group the names of widths that are the same number."""
    groups: dict[int, list[str]] = {}
    for name in sorted(numbers):
        if _has(name, _WIDTHS) and not _has(name, _NOT_WIDTHS):
            groups.setdefault(numbers[name], []).append(name)
    return sorted(names for names in groups.values() if len(names) > 1)


def _heads(numbers: Mapping[str, int]) -> list[Any]:
    """Say which attention kernel each head size takes, and whether heads fill the width."""
    found: list[Any] = [(name, _fused(numbers[name])) for name in _HEAD_SIZES if name in numbers]
    hidden = _first(numbers, ("hidden_size", "d_model", "n_embd", "embed_dim"))
    heads = _first(numbers, ("num_attention_heads", "n_head", "num_heads", "encoder_heads"))
    if hidden and heads:
        found.append(("width by heads", _fused(hidden // heads)))
        found.append(numbers.get("head_dim", hidden // heads) * heads == hidden)
    rotated, plain = numbers.get("qk_rope_head_dim"), numbers.get("qk_nope_head_dim")
    if rotated and plain:
        query = rotated + plain
        found.append(("query", _fused(query), query == numbers.get("v_head_dim")))
    return found


def _fused(size: int) -> bool:
    return size < _FUSED_BELOW or size % _FUSED_BELOW == 0


def _spans(numbers: Mapping[str, int], seq_len: int) -> list[Any]:
    """Say of windows and chunks whether a sequence is longer, and whether it fills them."""
    spans = sorted(name for name in numbers if _has(name, _SPANS))
    return [(n, seq_len > numbers[n], seq_len % numbers[n] == 0) for n in spans]


def _layers(config: Mapping[str, Any], numbers: Mapping[str, int]) -> list[Any]:
    """Say which kinds of layers a depth is enough for."""
    depth = _first(numbers, _LAYERS)
    if depth is None:
        return []
    found: list[Any] = [
        (name, numbers[name] <= depth, numbers[name] < depth)
        for name in sorted(numbers)
        if _has(name, _EVERY)
    ]
    for name in sorted(config):
        listed = config[name]
        if name.endswith(_LISTED) and isinstance(listed, list):
            inside = {i for i in listed if isinstance(i, int) and i < depth}
            found.append((name, bool(inside), len(inside) < depth))
    return found


def _images(numbers: Mapping[str, int]) -> list[bool]:
    """Say whether patches fill an image, and windows its patches: what is left over is padded."""
    image, patch = numbers.get("image_size"), numbers.get("patch_size")
    if image is None or patch is None:
        return []
    window = numbers.get("window_size", 1)
    return [image % patch == 0, (image // patch) % window == 0]


def _first(numbers: Mapping[str, int], names: tuple[str, ...]) -> int | None:
    return next((numbers[name] for name in names if name in numbers), None)


def _has(name: str, parts: tuple[str, ...]) -> bool:
    return any(part in name for part in parts)
