"""Progress on stderr, for people who watch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tpu_audit.cli.out import Out, wants_color
from tpu_audit.render.text import clean

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress, TaskID


class LiveProgress:
    """A bar that counts targets and names the one at work; use as a context manager."""

    def __init__(self, out: Out) -> None:
        import sys  # with rich, only for terminals

        from rich.console import Console  # only for terminals
        from rich.progress import (  # only for terminals
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
        )

        plain = not wants_color(out.color, sys.stderr)
        self._progress: Progress = Progress(
            SpinnerColumn("line"),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True, no_color=plain, highlight=False),
            transient=True,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bar away."""
        self._progress.stop()

    def start(self, total: int) -> None:
        """Begin to count to ``total`` targets."""
        self._task = self._progress.add_task("", total=total)

    def model(self, target: str) -> None:
        """Name the target at work."""
        if self._task is not None:
            self._progress.update(self._task, description=clean(target))

    def done(self, target: str, status: str) -> None:
        """Count a target; one that was not traced leaves a line behind."""
        if self._task is None:
            return
        if status != "traced":
            self._progress.console.print(clean(f"{target}: {status}"), markup=False)
        self._progress.advance(self._task)


class LiveFiles(LiveProgress):
    """A bar that counts files; use as a context manager."""

    def start(self, total: int) -> None:
        """Begin to count to ``total`` files."""
        self._task = self._progress.add_task("files", total=total)

    def advance(self, done: int) -> None:
        """Count ``done`` more files."""
        if self._task is not None:
            self._progress.advance(self._task, done)
