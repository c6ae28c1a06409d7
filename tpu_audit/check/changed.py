"""Lines changed since a git revision: ``--diff BASE``."""

from __future__ import annotations

import re
import subprocess
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = {
    b"n": b"\n",
    b"t": b"\t",
    b"r": b"\r",
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"v": b"\v",
}
Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """Changed lines by real path; None for a file that is new as a whole."""

    files: Mapping[str, Ranges | None]

    def touches(self, path: str) -> bool:
        """Tell whether the file has changed at all."""
        return str(Path(path).resolve()) in self.files

    def includes(self, path: str, first: int, last: int) -> bool:
        """Tell whether one of the lines ``first`` to ``last`` has changed."""
        ranges = self.files.get(str(Path(path).resolve()), ())
        return ranges is None or any(low <= last and first <= high for low, high in ranges)


def changes_since(base: str, folders: Iterable[Path]) -> Changes:
    """Return what changed in the repositories around ``folders`` since the revision ``base``.

    Untracked files count as new. Raises UsageError when there is no repository or revision.
    """
    found: dict[str, Ranges | None] = {}
    for root in {_root(folder) for folder in folders}:
        _git(root, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}", what=base)
        options = ("--unified=0", "--no-color", "--no-ext-diff", "--no-renames", "--no-prefix")
        diff = _git(root, "diff", *options, base, "--", what=base)
        found |= {str((root / name).resolve()): places for name, places in _files(diff)}
        listed = _git(root, "ls-files", "--others", "--exclude-standard", "-z", what=base)
        found |= {str((root / name).resolve()): None for name in filter(None, listed.split("\0"))}
    return Changes(found)


def _files(diff: str) -> Iterator[tuple[str, Ranges]]:
    """Yield each file of a diff without context with the line ranges that are new in it."""
    name, ranges = "", list[tuple[int, int]]()
    lines = iter(diff.split("\n"))
    for line in lines:
        if line.startswith("+++ "):
            if name:
                yield name, tuple(ranges)
            name, ranges = _unquoted(line[4:]), []
        elif match := _HUNK.match(line):
            old, start, new = (int(group or 1) for group in match.groups())
            if new:
                ranges.append((start, start + new - 1))
            # What the lines say is not a header, whatever it looks like.
            deque(islice(lines, old + new), maxlen=0)
    if name:
        yield name, tuple(ranges)


def _unquoted(name: str) -> str:
    """Return a path as it is; git quotes one with control characters or quotes as C does."""
    name = name.removesuffix("\t")
    if not name.startswith('"'):
        return name
    raw = name[1:-1].encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(_character, raw).decode("utf-8", "surrogateescape")


def _character(match: re.Match[bytes]) -> bytes:
    code = match.group(1)
    return bytes([int(code, 8)]) if len(code) > 1 else _LETTERS.get(code, code)


def _root(folder: Path) -> Path:
    place = folder if folder.is_dir() else folder.parent
    return Path(_git(place, "rev-parse", "--show-toplevel", what="").strip())


def _git(folder: Path, *arguments: str, what: str) -> str:
    command = ["git", "-C", str(folder), "-c", "core.quotepath=off", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        raise UsageError("--diff needs git, which is not installed") from error
    if done.returncode:
        text = done.stderr.decode("utf-8", "replace").strip()
        said = text.removeprefix("fatal: ") or f"no such revision: {what!r}"
        raise UsageError(f"--diff: {said}", hint="name a branch, a tag or a commit: --diff main")
    return done.stdout.decode("utf-8", "surrogateescape")
