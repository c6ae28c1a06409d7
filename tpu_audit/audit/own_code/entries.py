"""Where a repository's own code begins: the classes that its configs name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tpu_audit.types.model import ModelSpec

_MODULES = "modules.json"
"""Names the classes of a sentence-transformers model."""
_DEPTH = 4
"""Levels at which a config of a composite model has configs of its parts."""


@dataclass(slots=True)
class Entries:
    """Files that loading begins with, and the classes wanted of them."""

    files: dict[str, None] = field(default_factory=dict)
    """In the order of the configs; not all need be there."""
    alone: dict[str, None] = field(default_factory=dict)
    """Those among them that no class of transformers stands in for."""
    classes: set[str] = field(default_factory=set)
    elsewhere: dict[str, None] = field(default_factory=dict)
    """Other repositories that the configs take code from."""

    def add(self, reference: object, *, is_class: bool = True, alone: bool = False) -> None:
        """Take ``modeling_x.XModel``, or ``org/name--modeling_x.XModel`` of another repository."""
        if not isinstance(reference, str):
            return
        repository, _, place = reference.rpartition("--")
        module, _, name = place.rpartition(".")
        if repository:
            self.elsewhere[repository] = None
        elif module:
            path = f"{module.replace('.', '/')}.py"
            self.files[path] = None
            if alone:
                self.alone[path] = None
            if is_class:
                self.classes.add(name)


def entries_of(spec: ModelSpec) -> Entries:
    """Return what ``auto_map``, ``custom_pipelines`` and ``modules.json`` name.

    Files of pipelines count, their classes do not: nobody makes a pipeline to load a model.
    """
    found = Entries()
    for config in (spec.config, *spec.processor_configs.values()):
        for reference in _mapped(config, _DEPTH):
            found.add(reference)
    for pipeline in _values(spec.config.get("custom_pipelines")):
        if isinstance(pipeline, Mapping):
            found.add(pipeline.get("impl"), is_class=False, alone=True)
    for kind in _sentence_modules(spec):
        if isinstance(kind, str) and f"{kind.rpartition('.')[0]}.py" in spec.code_files:
            found.add(kind, alone=True)
    return found


def _mapped(config: Mapping[str, Any], depth: int) -> Iterator[object]:
    """Yield the references of ``auto_map``, of the parts of a composite config too."""
    for value in _values(config.get("auto_map")):
        # A tokenizer's is a pair: slow and fast, either of which may be null.
        yield from value if isinstance(value, list) else [value]
    if depth:
        for part in config.values():
            if isinstance(part, Mapping):
                yield from _mapped(part, depth - 1)


def _values(value: object) -> list[Any]:
    return list(value.values()) if isinstance(value, Mapping) else []


def _sentence_modules(spec: ModelSpec) -> list[object]:
    path = spec.text_files.get(_MODULES)
    try:
        rows = json.loads(Path(path).read_bytes()) if path else []
    except (OSError, ValueError, RecursionError):
        return []
    listed = rows if isinstance(rows, list) else []
    return [row.get("type") for row in listed if isinstance(row, dict)]
