"""sentence-transformers models: ``modules.json`` lists what runs, each with a folder of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tpu_audit.sources.selection import CONFIG, SENTENCE_MODULES, size_limit
from tpu_audit.sources.strict_json import BadJsonError, read_object

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tpu_audit.sources.assemble import Found

_LISTED = 16
"""Modules read of one list; real ones have up to five."""


def listed_modules(found: Found, notes: list[str]) -> tuple[Mapping[str, Any], ...]:
    """Return the modules in order: ``type``, ``path`` and, where there is one, ``config`` of each.

    Empty where the repository lists none; a broken list costs a note.
    """
    path = found.paths.get(SENTENCE_MODULES)
    if path is None:
        return ()
    try:
        listed = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        notes.append(f"{SENTENCE_MODULES} was ignored: {error}")
        return ()
    rows = listed if isinstance(listed, list) else []
    known = [row for row in rows if isinstance(row, dict) and isinstance(row.get("type"), str)]
    if len(known) != len(rows) or not known:
        notes.append(f"{SENTENCE_MODULES} is no list of modules: traced without")
        return ()
    return tuple(_module(found, row, notes) for row in known[:_LISTED])


def first_module(found: Found) -> Path | None:
    """Return the config of the first listed module, where older repositories keep the model's."""
    first = next(iter(listed_modules(found, [])), {})
    return found.paths.get(f"{first.get('path')}/{CONFIG}")


def _module(found: Found, row: Mapping[str, Any], notes: list[str]) -> Mapping[str, Any]:
    folder = str(row.get("path") or "").strip("/")
    module: dict[str, Any] = {"type": row["type"], "path": folder}
    config = found.paths.get(f"{folder}/{CONFIG}") if folder else None
    if config is None:
        return module
    try:
        return module | {"config": read_object(config, limit=size_limit(CONFIG)).content}
    except BadJsonError as problem:
        notes.append(f"{folder}/{CONFIG} was ignored: {problem.detail}")
        return module
