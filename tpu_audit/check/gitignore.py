"""What git leaves out: ``.gitignore`` of every folder on the way, and ``info/exclude``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class Ignores:
    """The patterns in force in a folder: the folder's own, then those of the folders above."""

    folder: str
    spec: GitIgnoreSpec | None
    above: Ignores | None

    def ignored(self, path: str, *, folder: bool) -> bool:
        """Tell whether git ignores ``path``, which is below this folder; the nearest rule wins."""
        level: Ignores | None = self
        while level is not None:
            if level.spec is not None:
                relative = path[len(level.folder) :].lstrip("/") + ("/" if folder else "")
                verdict = level.spec.check_file(relative).include
                if verdict is not None:
                    return verdict
            level = level.above
        return False


def ignores_of(folder: str, above: Ignores | None) -> Ignores | None:
    """Return the patterns in force in ``folder``; those of ``above`` when it has none itself."""
    spec = _read(Path(folder) / ".gitignore")
    return Ignores(folder, spec, above) if spec is not None else above


def ignores_above(folder: Path) -> Ignores | None:
    """Return the patterns that the repository around ``folder`` has in force there."""
    root = next((up for up in (folder, *folder.parents) if (up / ".git").exists()), None)
    if root is None:
        return None
    level: Ignores | None = None
    exclude = _read(root / ".git" / "info" / "exclude")
    if exclude is not None:
        level = Ignores(str(root), exclude, None)
    if folder == root:
        return level
    between = [root, *reversed([up for up in folder.parents if root in up.parents])]
    for up in between:
        level = ignores_of(str(up), level)
    return level


def _read(path: Path) -> GitIgnoreSpec | None:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    from pathspec import GitIgnoreSpec  # only where something is ignored

    lines = text.splitlines()
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:  # a pattern that git itself passes over
        return GitIgnoreSpec.from_lines([line for line in lines if _valid(line)])


def _valid(line: str) -> bool:
    from pathspec import GitIgnoreSpec  # as above

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
