"""The outputs of one run: checked before the work starts, written whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tpu_audit.cli.params import STDOUT, Output
from tpu_audit.render.interface import View
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tpu_audit.cli.out import Out


def plan(fmt: str, outputs: Sequence[Output], *, fmt_given: bool) -> list[Output]:
    """Return all outputs of the run, the one on stdout first; ``-o X=-`` replaces the default.

    Raises UsageError for two reports in one place and for a path that cannot be written.
    """
    on_stdout = [output for output in outputs if output.path == STDOUT]
    files = [output for output in outputs if output.path != STDOUT]
    if fmt_given or not on_stdout:
        on_stdout.insert(0, Output(fmt=fmt, path=STDOUT))
    if len({output.fmt for output in on_stdout}) > 1:
        names = " and ".join(output.fmt for output in on_stdout)
        hint = "give one of them a path: -o json=report.json"
        raise UsageError(f"two reports on standard output: {names}", hint=hint)
    seen: dict[Path, str] = {}
    for output in files:
        check_writable(Path(output.path))
        place = Path(output.path).resolve()
        if place in seen:
            raise UsageError(f"two outputs in one file: {seen[place]} and {output.path}")
        seen[place] = output.path
    return [on_stdout[0], *files]


def write(out: Out, outputs: Sequence[Output], render: Callable[[str, View], str]) -> None:
    """Write the files, then stdout; ``render`` returns the report in a format, for a view."""
    for output in sorted(outputs, key=lambda output: output.path == STDOUT):
        if output.path == STDOUT:
            out.data(render(output.fmt, out.view()))
        else:
            text = render(output.fmt, View(verbosity=max(out.verbosity, 0)))
            write_atomically(Path(output.path), text)
            out.detail(f"wrote {output.path}")


def write_atomically(path: Path, text: str) -> None:
    """Write ``text`` to ``path``; a reader sees the old file or the new one. UsageError if not."""
    try:
        if _is_special(path):
            path.write_text(text, encoding="utf-8")
        else:
            _replace(path.resolve(), text)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(_mode(path))
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _mode(path: Path) -> int:
    """Return the permissions of the old file, or those that a new one would get."""
    with suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def check_writable(path: Path) -> None:
    """Raise UsageError when ``path`` cannot be written, without touching it."""
    if path.is_dir():
        raise _unwritable(path, "it is a folder")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise _unwritable(path, f"there is no folder {str(folder)!r}")
    place = path if _is_special(path) else folder
    if not os.access(place, os.W_OK):
        raise _unwritable(path, f"no permission to write {str(place)!r}")


def _is_special(path: Path) -> bool:
    """Tell a device or a pipe, which must not be replaced by a file."""
    return path.exists() and not path.is_file()


def _unwritable(path: Path, reason: str) -> UsageError:
    return UsageError(f"cannot write {str(path)!r}: {reason}", hint="name another path after -o")
