"""Which configs share an op set: a signature for statistics, coarser than the key of a trace.

Models of one class differ mostly in sizes, and sizes seldom decide which ops run. The signature
keeps what may decide it and classes the rest, so that a survey of thousands of configs can say how
many op sets it saw. It is a heuristic, tested on samples: no verdict and no cache rests on it;
those take the exact config (:mod:`tpu_audit.trace.key`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tpu_audit.trace.key import normalised
from tpu_audit.trace.relations import relations

if TYPE_CHECKING:
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import TraceSettings

_NOT_COMPUTED_WITH = frozenset(
    {"architectures", "label2id", "torch_dtype", "dtype", "finetuning_task", "_attn_implementation"}
)
"""Config fields that the settings of a trace or other fields say again."""
_TRAINING_START = ("initializer_", "init_", "_init")
"""Begins or ends of names of fields that only say how weights are drawn before training."""
_TOKEN = ("_token_id", "_token_index", "_token")
_SETTINGS = (
    "phase", "dtype", "attn", "experts", "kv_cache", "optimizer", "autocast", "checkpointing",
    "tracer",
)  # fmt: skip


def statistics_signature(spec: ModelSpec, settings: TraceSettings) -> str:
    """Return a SHA-256 in hex: models that have the same one are expected to share an op set.

    Only between signatures made with the same transformers, torch and tracer. For statistics
    alone: shapes, costs and hazards of sizes differ between models that share one.
    """
    chosen = settings.phase in {"prefill", "decode"}
    content = {
        "architecture": spec.architecture,
        "library": spec.library,
        "quantisation": spec.quantisation,
        "factory": spec.factory,
        "component": (spec.component, spec.home),
        "settings": {name: getattr(settings, name) for name in _SETTINGS},
        "config": _fields(normalised(spec.config), settings.seq_len),
        "generation": _fields(spec.generation_config or {}, settings.seq_len) if chosen else None,
        "adapter": _fields(spec.adapter or {}, settings.seq_len),
        "modules": [_fields(module, settings.seq_len) for module in spec.modules],
        "processors": _value("", spec.processor_configs, settings.seq_len),
        "parts": [statistics_signature(part, settings) for part in spec.components],
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _fields(config: Mapping[str, Any], seq_len: int) -> dict[str, Any]:
    """Class every field of a config, and what its numbers are to each other."""
    classed = {
        name: _value(name, value, seq_len) for name, value in config.items() if not _dropped(name)
    }
    return {**classed, "": relations(config, seq_len)}


def _dropped(name: str) -> bool:
    drawn = name.startswith(_TRAINING_START[:2]) or name.endswith(_TRAINING_START[2])
    return drawn or name in _NOT_COMPUTED_WITH


def _value(name: str, value: Any, seq_len: int) -> Any:
    if name in {"id2label", "num_labels"}:
        return _labels(value)
    if name.endswith(_TOKEN):
        return value is not None
    if isinstance(value, Mapping):
        return _fields(value, seq_len)
    if isinstance(value, list | tuple):
        return _kinds(name, value, seq_len)
    return _scalar(value)


def _labels(value: Any) -> Any:
    """Tell one label, which makes a head regress, from many."""
    count = value.get("labels", len(value)) if isinstance(value, Mapping) else value
    return count == 1


def _kinds(name: str, values: list[Any] | tuple[Any, ...], seq_len: int) -> list[Any]:
    """Return the kinds of a list in order of first appearance: how often each comes is size."""
    kinds: list[Any] = []
    for value in values:
        kind = _value(name, value, seq_len)
        if kind not in kinds:
            kinds.append(kind)
    return kinds


def _scalar(value: Any) -> Any:
    """Keep switches and names; of numbers keep whether they are 0, 1 or negative."""
    if value is None or isinstance(value, bool | str):
        return value
    if not isinstance(value, int | float):
        return str(value)
    if value < 0:
        return "negative"
    return float(value) if value in {0, 1} else "number"
