"""Finds the files to check, in an order that does not depend on the file system."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase, translate
from pathlib import Path
from typing import TYPE_CHECKING

from tpu_audit.check.classify import kind_of_name, may_have_shebang
from tpu_audit.check.gitignore import Ignores, ignores_above, ignores_of
from tpu_audit.check.source import Source
from tpu_audit.types.errors import UsageError
from tpu_audit.types.report import Unread

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_EXCLUDES = (
    *(".git", ".hg", ".svn", ".bzr", "CVS", ".venv", "venv", ".tox", ".nox", ".eggs", ".direnv"),
    *("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".ipynb_checkpoints"),
    *("node_modules", "site-packages", "__pypackages__", ".pyenv", "build", "dist", "buck-out"),
    *("*.egg-info", "*.dist-info", ".terraform", ".idea"),
)
"""Folders that hold other people's work or results of tools. Named as an argument, they count."""
_DEFAULT = re.compile("|".join(translate(pattern) for pattern in DEFAULT_EXCLUDES))


@dataclass(slots=True)
class Discovery:
    """Files found, and folders that could not be listed."""

    sources: list[Source] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


def discover(
    paths: Sequence[str],
    *,
    excludes: Sequence[str] = (),
    respect_gitignore: bool = True,
) -> Discovery:
    """Find files below ``paths``; those named themselves are taken whatever they are called.

    ``excludes`` are glob patterns of names or of paths, besides ``DEFAULT_EXCLUDES``. Raises
    UsageError for a path that does not exist.
    """
    walk = _Walk(excludes, respect_gitignore=respect_gitignore)
    for text in paths:
        path = Path(text)
        if not os.path.lexists(path):
            raise UsageError(f"no such file or folder: {text!r}", hint="check the spelling")
        if path.is_dir():
            walk.folder(path)
        else:
            walk.explicit(path)
    walk.finish()
    return walk.found


class _Walk:
    def __init__(self, excludes: Sequence[str], *, respect_gitignore: bool) -> None:
        self.found = Discovery()
        self._excludes = excludes
        self._respect = respect_gitignore
        self._folders: set[tuple[int, int]] = set()
        self._files: set[str] = set()
        self._links: list[tuple[str, _Root]] = []

    def explicit(self, path: Path) -> None:
        """Take a file that was named."""
        absolute = _absolute(path)
        real = os.path.realpath(absolute)
        if real not in self._files:
            self._files.add(real)
            shown = _shown(absolute)
            logical = shown if not os.path.isabs(shown) else path.name
            self.found.sources.append(
                Source(path=absolute, shown=shown, logical=logical, explicit=True)
            )

    def folder(self, path: Path) -> None:
        """Take all files below a folder that was named."""
        absolute = _absolute(path)
        shown = _shown(absolute)
        here = str(Path.cwd())
        outside = absolute != here and os.path.isabs(shown)
        base = os.path.dirname(absolute) if outside else here
        ignores = ignores_above(Path(absolute)) if self._respect else None
        self._visit(absolute, _Root(base=base, ignores=ignores))

    def finish(self) -> None:
        """Take the links last, so that a file is reported where it really is."""
        while self._links:
            links, self._links = self._links, []
            for path, root in links:
                if os.path.isdir(path):
                    self._visit(path, root)
                elif os.path.isfile(path):
                    self._add(path, os.path.realpath(path), root)

    def _visit(self, top: str, root: _Root) -> None:
        """Walk a tree with a stack: depth is the file system's to choose."""
        stack = [(top, os.path.realpath(top), root)]
        while stack:
            folder, real, here = stack.pop()
            entries = self._list(folder)
            ignores = ignores_of(folder, here.ignores) if self._respect else None
            inner = _Root(base=here.base, ignores=ignores)
            folders = []
            for entry in entries:
                if self._excluded(entry, inner):
                    continue
                if entry.is_symlink():
                    self._links.append((entry.path, inner))
                elif entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, f"{real}/{entry.name}", inner))
                elif entry.is_file(follow_symlinks=False):
                    self._add(entry.path, f"{real}/{entry.name}", inner)
            stack += reversed(folders)

    def _list(self, folder: str) -> list[os.DirEntry[str]]:
        """List a folder by name; once only, whatever links lead to it."""
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in self._folders:
                return []
            self._folders.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as listing:
                return sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            reason = f"the folder cannot be listed: {error.strerror or error}"
            self.found.unread.append(Unread(path=_shown(folder), code="permission", reason=reason))
            return []

    def _excluded(self, entry: os.DirEntry[str], root: _Root) -> bool:
        relative = entry.path[len(root.base) + 1 :]
        if self._excludes and self._named(entry.name, relative):
            return True
        directory = _is_folder(entry)
        if directory and (
            _DEFAULT.match(entry.name) or os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
        ):
            return True
        if not directory and kind_of_name(relative) is None and not may_have_shebang(relative):
            return True
        return root.ignores is not None and root.ignores.ignored(entry.path, folder=directory)

    def _named(self, name: str, relative: str) -> bool:
        return any(fnmatchcase(name, p) or fnmatchcase(relative, p) for p in self._excludes)

    def _add(self, path: str, real: str, root: _Root) -> None:
        """Add a file, unless it was found under another name."""
        if real not in self._files:
            self._files.add(real)
            logical = path[len(root.base) + 1 :]
            self.found.sources.append(Source(path=path, shown=_shown(path), logical=logical))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Root:
    """What holds in a folder."""

    base: str
    """Folder that logical paths start from."""
    ignores: Ignores | None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _absolute(path: Path) -> str:
    return os.path.abspath(path)


def _shown(path: str) -> str:
    here = os.getcwd()
    return path[len(here) + 1 :] if path.startswith(here + os.sep) else path
