"""The folders of the cache that are ours to count and to clean."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.cli.crash import FOLDER as CRASHES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDERS = ("resolutions", "traces", "compilations", "checks", CRASHES)
"""What this tool writes below the cache folder. Nothing else there is touched."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What one folder of the cache holds."""

    name: str
    files: int
    bytes: int


def usage(cache_dir: Path) -> list[Usage]:
    """Measure each folder."""
    return [_measure(name, cache_dir / name) for name in FOLDERS]


def clean(cache_dir: Path, *, dry_run: bool) -> list[Usage]:
    """Delete the files of each folder and return what was deleted; nothing with ``dry_run``.

    OSError when a file cannot be deleted.
    """
    deleted = usage(cache_dir)
    if not dry_run:
        for name in FOLDERS:
            _empty(cache_dir / name)
    return deleted


def _measure(name: str, folder: Path) -> Usage:
    sizes = []
    for path in _files(folder):
        with suppress(FileNotFoundError):  # another run may clean at the same time
            sizes.append(path.lstat().st_size)
    return Usage(name=name, files=len(sizes), bytes=sum(sizes))


def _empty(folder: Path) -> None:
    # A link that somebody put here points at a place that is not ours: the link goes, no more.
    if folder.is_symlink():
        folder.unlink()
        return
    for path in _files(folder):
        path.unlink(missing_ok=True)
    for inner in sorted(_folders(folder), reverse=True):
        with suppress(OSError):  # somebody wrote into it meanwhile
            inner.rmdir()


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_symlink():
        return
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_dir():
            yield path


def _folders(folder: Path) -> list[Path]:
    inner = [path for path in folder.rglob("*") if path.is_dir() and not path.is_symlink()]
    return [folder, *inner] if folder.is_dir() else []
