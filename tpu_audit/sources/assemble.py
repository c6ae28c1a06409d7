"""Turns files at hand into a ModelSpec, the same way for every source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tpu_audit.sources import classify
from tpu_audit.sources.selection import (
    ADAPTER,
    CONFIG,
    GENERATION,
    PIPELINE,
    PROCESSORS,
    is_code,
    is_index,
    size_limit,
)
from tpu_audit.sources.strict_json import BadJsonError, JsonDocument, read_object, too_large
from tpu_audit.types.errors import NotAuditedError, Stage
from tpu_audit.types.model import ModelSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A model's files, wherever they came from."""

    target: str
    id: str
    revision: str | None
    config_source: str
    files: tuple[str, ...]
    """All names known, sorted."""
    paths: Mapping[str, Path]
    """Those that can be read here: name -> path."""
    redirected_from: str | None = None
    library_name: str | None = None
    """The hub's library tag."""
    unfetched: Mapping[str, str] = field(default_factory=dict)
    """Listed, wanted and not to be had: name -> why."""
    notes: tuple[str, ...] = ()


def assemble(found: Found) -> ModelSpec:
    """Parse what was found. Raises NotAuditedError: no config, malformed, other library."""
    notes = list(found.notes)
    if CONFIG not in found.files:
        side = _side_configs(found, (PIPELINE, ADAPTER), [])
        raise classify.refuse_without_config(found.id, found.files, side, found.library_name)
    document = _main_config(found)
    notes += [f"{CONFIG}: {note}" for note in document.notes]
    library = classify.library_of(found.id, document.content, found.files)
    notes += classify.odd_fields(document.content)
    if ADAPTER in found.files:
        notes.append(f"{ADAPTER} stands beside {CONFIG}: the base model is audited, no adapter")
    side = _side_configs(found, (GENERATION, *PROCESSORS), notes)
    return ModelSpec(
        target=found.target,
        id=found.id,
        revision=found.revision,
        config_source=found.config_source,
        library=library,
        config=document.content,
        generation_config=side.pop(GENERATION, None),
        processor_configs=side,
        files=found.files,
        code_files=_paths(found, is_code),
        text_files=_paths(found, lambda name: not is_code(name) and not is_index(name)),
        unfetched=found.unfetched,
        index_files=_paths(found, is_index),
        redirected_from=found.redirected_from,
        notes=tuple(notes),
    )


def _paths(found: Found, wanted: Callable[[str], bool]) -> dict[str, str]:
    return {name: str(path) for name, path in sorted(found.paths.items()) if wanted(name)}


def _main_config(found: Found) -> JsonDocument:
    path = found.paths.get(CONFIG)
    if path is None:  # listed, but left out for its size
        raise _unusable(found, BadJsonError(too_large(size_limit(CONFIG)), code="too_large"))
    try:
        return read_object(path, limit=size_limit(CONFIG))
    except BadJsonError as problem:
        raise _unusable(found, problem) from problem


def _unusable(found: Found, problem: BadJsonError) -> NotAuditedError:
    where = found.id if found.id.endswith(".json") else f"{CONFIG} of {found.id}"
    return NotAuditedError(
        f"{where} cannot be used: {problem.detail}",
        stage=Stage.CONFIG,
        code=problem.code,
        hint=problem.hint or f"give a repaired copy: tpu-audit scan path/to/{CONFIG}",
    )


def _side_configs(
    found: Found, names: tuple[str, ...], notes: list[str]
) -> dict[str, Mapping[str, Any]]:
    """Configs that help but are not needed: a broken one costs a note, not the audit."""
    result: dict[str, Mapping[str, Any]] = {}
    for name in names:
        path = found.paths.get(name)
        if path is None:
            continue
        try:
            result[name] = read_object(path, limit=size_limit(name)).content
        except BadJsonError as problem:
            notes.append(f"{name} was ignored: {problem.detail}")
    return result
