"""How far a verification is, on stderr."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from op_registry.verify.plan import STAGES

if TYPE_CHECKING:
    from types import TracebackType

    from op_registry.verify.pipeline import Pipeline
    from op_registry.verify.tasks import Tasks
    from tpu_audit.cli.out import Out

_QUIET_SECONDS = 60.0
"""Between two lines where stderr is no terminal."""
_WORDS = {"compile": "compiled", "numerics": "compared", "gradient": "gradients"}


class VerifyProgress:
    """Told about every second: rewrites a line on a terminal, else adds one a minute.

    Use as a context manager.
    """

    def __init__(self, out: Out) -> None:
        self._out = out
        self._live = out.shows_progress()
        self._last = time.monotonic()
        self._start = self._last

    def __enter__(self) -> Self:
        """Show nothing yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the line away."""
        self._write("")

    def pipeline(self, pipeline: Pipeline) -> None:
        """Show how far the stages are."""
        self._show(self._line(pipeline))

    def second_look(self, tasks: Tasks[Any]) -> None:
        """Show how many disagreements have been looked at again."""
        done, total = tasks.done, tasks.total
        again = f"looked again at {done['confirm']:,}/{total['confirm']:,} disagreements"
        edges = f"took {done['edges']:,}/{total['edges']:,} samples to the edge"
        self._show(f"{self._time()} · {again} · {edges}")

    def _show(self, line: str) -> None:
        now = time.monotonic()
        if self._live:
            self._write(line)
        elif now - self._last >= _QUIET_SECONDS:
            self._last = now
            self._out.note(line)

    def _write(self, line: str) -> None:
        if self._live:
            with suppress(OSError, ValueError):
                sys.stderr.write(f"\r\x1b[K{line}")
                sys.stderr.flush()

    def _time(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self._start), 60)
        return f"{minutes}:{seconds:02}"

    def _line(self, pipeline: Pipeline) -> str:
        tasks = pipeline.tasks
        lowered, ops = pipeline.lowered()
        parts = [self._time(), f"lowered {lowered:,}/{ops:,} ops"]
        for stage in STAGES[1:]:
            if tasks.total[stage]:
                done, total = tasks.done[stage], tasks.total[stage]
                parts.append(f"{_WORDS[stage]} {done:,}/{total:,}")
        return " · ".join(parts)
