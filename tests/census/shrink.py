"""Fewer layers: the shortest prefix of them that has every kind of layer."""

from __future__ import annotations

from typing import Any

_COUNTS = (
    "num_hidden_layers",
    "n_layer",
    "n_layers",
    "num_layers",
    "encoder_layers",
    "decoder_layers",
    "num_encoder_layers",
    "num_decoder_layers",
    "depth",
    "encoder_num_layers",
    "decoder_num_layers",
    "attention_layers",
    "l_layers",
    "x_layers",
    "r_layers",
    "encoder_num_hidden_layers",
    "decoder_num_hidden_layers",
    "vision_layers",
    "text_layers",
)
"""Fields that count layers all of which are built alike, but for what lists and periods say."""
_PERIODS = (
    "attn_layer_period",
    "expert_layer_period",
    "full_attn_interval",
    "full_attention_interval",
    "sliding_window_pattern",
    "cross_attention_interval",
    "moe_layer_interval",
    "interleave_moe_layer_step",
    "global_attn_every_n_layers",
    "global_attn_every_n_layer",
    "decoder_sparse_step",
    "encoder_sparse_step",
)
"""Every so many layers another kind comes."""
_DENSE_FIRST = ("first_k_dense_replace", "num_dense_layers")
_NAMED = ("out_features", "_out_features")
"""Fields that name layers by their numbers: a backbone keeps all that it has."""
_LAYERS = 2
_KINDS = 8
"""Lists with more different layers than this are of sizes or weights, not kinds."""


def shrink(config: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a config's content with few layers, at every depth."""
    content = {
        name: shrink(value) if isinstance(value, dict) else value for name, value in config.items()
    }
    if any(name in content for name in _NAMED):
        return content
    for name in _COUNTS:
        count = content.get(name)
        if isinstance(count, int) and not isinstance(count, bool) and count > _LAYERS:
            _cut(content, name, count)
    return content


def _cut(content: dict[str, Any], name: str, count: int) -> None:
    lists = {k: v for k, v in content.items() if isinstance(v, list) and len(v) == count}
    kept = min(count, max(_needed(list(lists.values()), count), _period(content)))
    content[name] = kept
    others = content.get("per_layer_config")
    if isinstance(others, dict):
        content["per_layer_config"] = {k: v for k, v in others.items() if int(k) < kept}
    for key, value in lists.items():
        content[key] = value[:kept]


def _needed(lists: list[list[Any]], count: int) -> int:
    """Return how many layers show every combination that the per-layer lists have."""
    layers = [str([one[i] for one in lists]) for i in range(count)]
    every = set(layers)
    if len(every) > _KINDS:
        return count
    return max(_LAYERS, *(layers.index(one) + 1 for one in every))


def _period(content: dict[str, Any]) -> int:
    periods = [content.get(name) for name in _PERIODS]
    dense = [content.get(name) for name in _DENSE_FIRST]
    first = max((n for n in dense if isinstance(n, int)), default=0)
    return max([_LAYERS, first + 1, *(n for n in periods if isinstance(n, int))])
