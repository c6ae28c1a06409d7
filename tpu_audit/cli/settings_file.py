"""Finds and reads the settings file: ``tpu-audit.toml`` or ``[tool.tpu-audit]``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tpu_audit.types.errors import UsageError

OWN_NAME = "tpu-audit.toml"
PYPROJECT = "pyproject.toml"


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingsFile:
    """The one settings file in force; ``path`` is None when there is none."""

    path: Path | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    """The table as written: top-level keys, and one sub-table a command."""


NO_SETTINGS = SettingsFile()


def nearest(start: Path) -> SettingsFile:
    """Read the first settings file in ``start`` or a folder above it; the nearest one wins whole.

    In one folder ``tpu-audit.toml`` goes before ``pyproject.toml``. Raises UsageError when the
    file cannot be read.
    """
    for folder in (start, *start.parents):
        own = folder / OWN_NAME
        if own.is_file():
            return read(own)
        project = folder / PYPROJECT
        # Most projects have no settings for this tool; their syntax is none of its business.
        if project.is_file() and b"tpu-audit" in _bytes(project):
            found = read(project)
            if found.values:
                return found
    return NO_SETTINGS


def read(path: Path) -> SettingsFile:
    """Read ``path``; in a ``pyproject.toml`` only ``[tool.tpu-audit]`` counts."""
    import tomllib  # most runs have no settings file

    try:
        table: Any = tomllib.loads(_bytes(path).decode())
    except (ValueError, RecursionError) as error:
        hint = "fix the file, or run with --isolated to ignore it"
        raise UsageError(f"{path}: not valid TOML: {error}", hint=hint) from error
    if path.name == PYPROJECT:
        tool = table.get("tool", {})
        table = tool.get("tpu-audit", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise UsageError(f"{path}: [tool.tpu-audit] must be a table, not {table!r}")
    return SettingsFile(path=path, values=table)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"cannot read the settings file {path}: {error.strerror}"
        raise UsageError(message, hint="name another with --config, or use --isolated") from error
