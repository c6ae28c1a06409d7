"""Finds, in what a process said before it died, the line that tells why."""

from __future__ import annotations

import re

_FATAL_LINE = re.compile(r"^F\d{4} |Check failed|LLVM ERROR|what\(\):|Fatal Python error")
_PREFIX = re.compile(r"^[FEWI]\d{4} [\d:.]+ +\d+ ")
"""Time and thread at the head of a line of a log."""


def last_words(errors: str) -> str:
    """Return the last fatal line of a process's standard error, else its last line, or nothing."""
    lines = [line for line in errors.splitlines() if line.strip()]
    fatal = [line for line in lines if _FATAL_LINE.search(line)]
    return _PREFIX.sub("", (fatal or lines or [""])[-1]).strip()[:500]
