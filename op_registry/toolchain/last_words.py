"""Finds, in what a process said before it died, the line that tells why."""

from __future__ import annotations

import re

_FATAL_LINE = re.compile(r"^F\d{4} |Check failed|LLVM ERROR|what\(\):|Fatal Python error")
_PREFIX = re.compile(r"^[FEWI]\d{4} [\d:.]+ +\d+ ")
"""Time and thread at the head of a line of a log."""


def last_words(errors: str) -> str:
    """Return the last fatal line of a process's standard error, else its last line, or nothing."""
    lines = [line for line in errors.splitlines() if line.strip()]
    return fatal_line(errors) or (_shown(lines[-1]) if lines else "")


def fatal_line(errors: str) -> str:
    """Return the last line in which a process says why it dies, empty when it does not."""
    fatal = [line for line in errors.splitlines() if _FATAL_LINE.search(line)]
    return _shown(fatal[-1]) if fatal else ""


def _shown(line: str) -> str:
    return _PREFIX.sub("", line).strip()[:500]
