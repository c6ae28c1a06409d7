"""Models on this machine: a folder, or a config file."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from tpu_audit.sources.assemble import Found, assemble
from tpu_audit.sources.selection import CONFIG, PIPELINE, select_files
from tpu_audit.sources.target import MARKERS
from tpu_audit.types.errors import NotAuditedError, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tpu_audit.sources.target import LocalTarget
    from tpu_audit.types.model import ModelSpec

_MAX_FILES = 5000
"""Names listed of a folder; a checkpoint folder has dozens."""


def resolve_local(target: LocalTarget) -> ModelSpec:
    """Read a model folder, one of the files that say what it is, or any other JSON file alone.

    A ``config.json``, ``model_index.json`` or ``adapter_config.json`` is read with its neighbours;
    a config beside a pipeline's index is still that one model's.

    Raises NotAuditedError as :func:`assemble` does.
    """
    path = target.path
    if path.is_dir():
        found = find_in_folder(path, target=target.text)
    elif path.name in MARKERS:
        found = replace(find_in_folder(path.parent, target=target.text), id=str(path))
        found = _without_index(found) if path.name == CONFIG else found
    else:
        found = _found(target.text, path, {CONFIG: path})
    return assemble(found)


def find_in_folder(folder: Path, *, target: str) -> Found:
    """List a folder and choose what to read of it. Raises NotAuditedError if that is forbidden."""
    try:
        listed = list(islice(_walk(folder), _MAX_FILES + 1))
    except OSError as error:
        raise NotAuditedError(
            f"cannot list {str(folder)!r} ({error.strerror})",
            stage=Stage.RESOLVE,
            code="unreadable",
            hint="check the permissions of the folder",
        ) from error
    found = _found(target, folder, dict(listed[:_MAX_FILES]))
    if len(listed) <= _MAX_FILES:
        return found
    return replace(found, notes=(*found.notes, f"only {_MAX_FILES:,} of its files were listed"))


def _without_index(found: Found) -> Found:
    return replace(found, files=tuple(name for name in found.files if name != PIPELINE))


def _found(target: str, path: Path, files: dict[str, Path]) -> Found:
    selection = select_files({name: _size(file) for name, file in files.items()})
    return Found(
        target=target,
        id=str(path),
        revision=None,
        config_source="local",
        files=tuple(sorted(files)),
        paths={name: files[name] for name in selection.names},
        notes=selection.notes,
    )


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:  # a dangling link: reading it will say so
        return None


def _walk(folder: Path) -> Iterator[tuple[str, Path]]:
    """Files by name, hidden folders left out, breadth first so that a cap keeps the top level."""
    waiting = [folder]
    for current in waiting:
        try:
            with os.scandir(current) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            if current == folder:
                raise
            continue  # a closed subfolder hides only itself
        for entry in listed:
            path = current / entry.name
            if not entry.is_dir(follow_symlinks=False):
                yield path.relative_to(folder).as_posix(), path
            elif not entry.name.startswith("."):
                waiting.append(path)
