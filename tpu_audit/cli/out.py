"""The one output sink: stdout is data, stderr is for people."""

from __future__ import annotations

import io
import os
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from tpu_audit.render.columns import columns
from tpu_audit.render.interface import View
from tpu_audit.render.json_report import dumps
from tpu_audit.render.text import clean
from tpu_audit.types.errors import TpuAuditError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_PIPE_WIDTH = 100
"""Columns of a report that goes to a file or a pipe."""
_STYLES = {"error": "31", "warning": "33", "hint": "36", "note": "2"}


@dataclass(slots=True)
class Out:
    """Everything the command line says goes through here."""

    color: str = "auto"
    """``auto``, ``always`` or ``never``."""
    verbosity: int = 0
    """-1: errors only, 0: as usual, 1 and more: details."""
    progress: bool | None = None
    """Show progress; None: when stderr is a terminal."""

    def data(self, text: str) -> None:
        """Write a result to stdout. A closed pipe is the caller's to notice (BrokenPipeError)."""
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            message = f"cannot write to standard output: {error.strerror}"
            raise UsageError(message, hint="check the disk that it is sent to") from error

    def json(self, value: object) -> None:
        """Write a result to stdout as JSON."""
        self.data(dumps(value))

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Write rows of words to stdout in aligned columns."""
        self.data(columns(header, rows))

    def page(
        self,
        title: str,
        facts: Sequence[tuple[str, str]],
        *,
        table: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None,
        after: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Write a titled list of labelled paragraphs to stdout, then a table and more of them."""
        from tpu_audit.render.console.paper import Paper  # rich, for pages only

        paper = Paper(self.view())
        paper.line((title, "bold"))
        for label, text in facts:
            paper.labelled(label, text)
        if table:
            paper.blank()
            paper.table(*table, text=1)
        for label, text in after:
            paper.labelled(label, text)
        paper.blank()
        self.data(paper.text())

    def error(self, error: TpuAuditError) -> None:
        """Tell a person what went wrong and how to fix it; never silenced."""
        self._say("error", error.message)
        if error.hint:
            self._say("hint", error.hint)

    def warning(self, text: str) -> None:
        """Tell a person about something that costs them; silenced by ``--quiet``."""
        if self.verbosity >= 0:
            self._say("warning", text)

    def note(self, text: str) -> None:
        """Tell a person what happened; silenced by ``--quiet``."""
        if self.verbosity >= 0:
            self._say("note", text)

    def hint(self, text: str) -> None:
        """Tell a person what to do next; silenced by ``--quiet``."""
        if self.verbosity >= 0:
            self._say("hint", text)

    def detail(self, text: str) -> None:
        """Tell a person who asked for more with ``--verbose``."""
        if self.verbosity > 0:
            self._say("note", text)

    def view(self) -> View:
        """Return how stdout is looked at."""
        tty = _is_terminal(sys.stdout)
        columns_set = os.environ.get("COLUMNS", "")
        width = _PIPE_WIDTH
        if tty or columns_set.isdecimal():
            width = shutil.get_terminal_size((_PIPE_WIDTH, 24)).columns
        return View(
            width=width, color=wants_color(self.color, sys.stdout), verbosity=self.verbosity
        )

    def shows_progress(self) -> bool:
        """Tell whether progress belongs on stderr now."""
        if self.verbosity < 0 or not _is_terminal(sys.stderr):
            return False
        return self.progress is not False

    def _say(self, kind: str, text: str) -> None:
        label = f"{kind}:"
        if wants_color(self.color, sys.stderr):
            label = f"\x1b[{_STYLES[kind]}m{label}\x1b[0m"
        # A reader that closed stderr has no use for the message, and nobody else can be told.
        with suppress(OSError, ValueError):
            lines = (clean(line) for line in text.split("\n"))
            sys.stderr.write(f"{label} " + "\n  ".join(lines) + "\n")
            sys.stderr.flush()


def wants_color(choice: str, stream: TextIO) -> bool:
    """Decide on colour: the option, then NO_COLOR, then FORCE_COLOR, then the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return _is_terminal(stream) and os.environ.get("TERM") != "dumb"


def survive_any_encoding() -> None:
    """Spell out characters that a stream's encoding lacks, instead of failing on them."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False
