"""Which of the public configs in a folder is there for which class and model type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.census.sweep import config_paths, name_of


@dataclass(frozen=True, kw_only=True, slots=True)
class HubIndex:
    """Paths of configs of transformers models, in order of their names."""

    folder: Path
    by_class: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    by_type: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)

    def paths(self, name: str, model_type: str) -> list[Path]:
        """Return configs of the class, then those of the type for other classes."""
        same = self.by_class.get(name, ())
        return [*same, *(p for p in self.by_type.get(model_type, ()) if p not in same)]

    def name(self, path: Path) -> str:
        """Return ``org/model``."""
        return name_of(path, self.folder)


def index_hub(folder: Path | None) -> HubIndex:
    """Read every config under ``folder``; those that are no JSON objects are left out."""
    if folder is None:
        return HubIndex(folder=Path())
    classes: dict[str, list[Path]] = {}
    types: dict[str, list[Path]] = {}
    for path in config_paths(folder):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            kind, name = content["model_type"], content["architectures"][0]
        except (ValueError, LookupError, TypeError):
            continue
        if isinstance(kind, str) and isinstance(name, str):
            classes.setdefault(name, []).append(path)
            types.setdefault(kind, []).append(path)
    return HubIndex(
        folder=folder,
        by_class={name: tuple(paths) for name, paths in classes.items()},
        by_type={name: tuple(paths) for name, paths in types.items()},
    )
