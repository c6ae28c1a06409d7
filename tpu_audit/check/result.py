"""What checking one file gives, in a form that is cheap to keep and to send between processes."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass, field
from typing import Any

UNREAD = "unknown"
"""Kind of a file whose bytes were not to be had."""


@dataclass(frozen=True, slots=True)
class Item:
    """One hit of a rule, without its repair."""

    code: str
    severity: str
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    advice: str
    cause: str = ""
    fixable: str | None = None


@dataclass(frozen=True, slots=True)
class Comment:
    """One ``tpu-audit: ignore[...]`` comment."""

    line: int
    column: int
    end_column: int
    first: int
    """Lines that it covers: those of its own, or the one below when it stands alone."""
    last: int
    selectors: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Gap:
    """The file, or a part of it, that could not be read."""

    code: str
    reason: str
    line: int | None = None


@dataclass(slots=True)
class FileResult:
    """All that is known of one file under one set of rules."""

    kind: str | None = None
    """None for a file that is none of the checker's business."""
    items: list[Item] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)

    def encode(self) -> str:
        """Return the result as JSON."""
        if not (self.items or self.comments or self.gaps):
            return json.dumps([self.kind])
        rows = [[astuple(row) for row in part] for part in (self.items, self.comments, self.gaps)]
        return json.dumps([self.kind, *rows], separators=(",", ":"))

    @classmethod
    def decode(cls, text: str) -> FileResult:
        """Return the result that ``encode`` wrote. Raises ``ValueError`` or ``TypeError``."""
        kind, *parts = json.loads(text)
        if not parts:
            return cls(kind=kind)
        items, comments, gaps = parts
        return cls(
            kind=kind,
            items=[Item(*row) for row in items],
            comments=[_comment(row) for row in comments],
            gaps=[Gap(*row) for row in gaps],
        )


def _comment(row: list[Any]) -> Comment:
    line, column, end_column, first, last, selectors, reason = row
    return Comment(line, column, end_column, first, last, tuple(selectors), reason)
