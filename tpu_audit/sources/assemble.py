"""Turns files at hand into a ModelSpec, the same way for every source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tpu_audit.sources import classify
from tpu_audit.sources.pipeline import assemble_pipeline, component_folders
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
from tpu_audit.sources.sentence import first_module, listed_modules
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
    """Parse what was found. Raises NotAuditedError: no config, malformed, other library.

    The base model of an adapter is not looked up here: its spec comes back without a config.
    """
    side = _side_configs(found, (PIPELINE, ADAPTER), [])
    pipeline = _pipeline(found, side.get(PIPELINE, {}))
    if pipeline is not None:
        return pipeline
    if CONFIG in found.files or first_module(found):
        return _single(found, side.get(ADAPTER))
    if ADAPTER in side:
        return _adapter(found, side[ADAPTER], notes=found.notes)
    raise classify.refuse_without_config(found.id, found.files, found.library_name)


def _pipeline(found: Found, index: Mapping[str, Any]) -> ModelSpec | None:
    """Return the spec of a pipeline, or None for a repository that is none."""
    if PIPELINE not in found.files:
        parts = () if CONFIG in found.files else component_folders(found)
        return assemble_pipeline(found, {}) if parts else None
    spec = assemble_pipeline(found, index)
    if spec is None and CONFIG not in found.files:
        raise classify.refuse_pipeline(found.id, broken=not index)
    return spec


def _single(found: Found, adapter: Mapping[str, Any] | None) -> ModelSpec:
    """Return the spec of a model with a config of its own."""
    notes = list(found.notes)
    document = _main_config(found)
    notes += [f"{CONFIG}: {note}" for note in document.notes]
    if "peft_type" in document.content:  # the file was given by its path
        return _adapter(found, document.content, notes=notes)
    library = classify.library_of(found.id, document.content, found.files)
    notes += classify.odd_fields(document.content, library)
    if adapter is not None:
        notes.append(f"{ADAPTER} stands beside {CONFIG}, which is read as the base model's")
    side = _side_configs(found, (GENERATION, *PROCESSORS), notes)
    modules = listed_modules(found, notes)
    return ModelSpec(
        target=found.target,
        id=found.id,
        revision=found.revision,
        config_source=found.config_source,
        library="peft" if adapter is not None else library,
        config=document.content,
        adapter=adapter,
        modules=modules,
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


def _adapter(found: Found, adapter: Mapping[str, Any], *, notes: Iterable[str]) -> ModelSpec:
    """Return the spec of an adapter whose base model is still to be found."""
    return ModelSpec(
        target=found.target,
        id=found.id,
        revision=found.revision,
        config_source=found.config_source,
        library="peft",
        config={},
        adapter=adapter,
        files=found.files,
        redirected_from=found.redirected_from,
        notes=tuple(notes),
    )


def _main_config(found: Found) -> JsonDocument:
    path = found.paths.get(CONFIG) or first_module(found)
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
