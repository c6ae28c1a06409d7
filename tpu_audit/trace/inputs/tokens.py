"""Token ids that a tokenizer could have given: in the vocabulary, and none of the special ones."""

from __future__ import annotations

from typing import Any

import torch

from tpu_audit.trace.inputs.fields import find, own, sections, text_section

_KINDS = 61
"""Different ordinary tokens in a row before they repeat; prime, so no pattern meets a stride."""
_FALLBACK_VOCABULARY = 100
_SPECIAL_SUFFIXES = ("_token_id", "_token_index", "_token_ids", "_id")


def vocabulary(config: Any) -> int:
    """Return the number of token ids of the language model."""
    value = own(text_section(config), "vocab_size")
    value = find(config, "vocab_size", default=_FALLBACK_VOCABULARY) if value is None else value
    if isinstance(value, dict):
        sizes = [size for size in value.values() if isinstance(size, int)]
        value = min(sizes, default=_FALLBACK_VOCABULARY)
    if isinstance(value, list | tuple):
        value = value[0] if value else _FALLBACK_VOCABULARY
    return max(1, int(value))


def special_ids(config: Any) -> set[int]:
    """Return every token id that the config names: padding, end, image and audio placeholders."""
    found: set[int] = set()
    for _path, part in sections(config):
        for name, value in list(getattr(part, "__dict__", {}).items()):
            if name.endswith(_SPECIAL_SUFFIXES):
                values = value if isinstance(value, list | tuple) else [value]
                found.update(v for v in values if isinstance(v, int))
    return found


def token_ids(config: Any, batch: int, length: int, *, size: int | None = None) -> torch.Tensor:
    """Return (batch, length) int64 ids of ordinary tokens below ``size`` (the vocabulary)."""
    size = vocabulary(config) if size is None else size
    special = special_ids(config)
    first = min(5, size - 1)  # the lowest ids are special ones in most vocabularies
    ordinary = [i for i in range(first, min(size, first + 4 * _KINDS)) if i not in special]
    kinds = torch.tensor(ordinary[:_KINDS] or [0])
    return kinds[torch.arange(batch * length) % len(kinds)].view(batch, length)


def placeholder_id(config: Any, *names: str) -> int | None:
    """Return the id of a placeholder token; of a list, its first."""
    for name in names:
        value = find(config, name)
        if isinstance(value, list | tuple) and value:
            value = value[0]
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None
