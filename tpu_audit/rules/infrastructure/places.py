"""Finds a pattern in what a file says, comments left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Span

_COMMENT = re.compile(r"^\s*(?:#|REM\b|//)|\s#\s")


def matches(document: Document, pattern: re.Pattern[str]) -> Iterator[tuple[re.Match[str], Span]]:
    """Yield what matches within values, words of commands and requirements, with its place."""
    found = list(pattern.finditer(document.text))
    if not found:
        return
    words = _intervals(document, [word.span for c in document.commands for word in c.words])
    words += _intervals(document, [item.span for item in document.requirements])
    values = _intervals(document, [e.span for e in document.entries if not e.container])
    for match in found:
        inside = _within(match, words)
        if inside or (_within(match, values) and not _in_comment(document, match)):
            yield match, document.source.span(*match.span())


def part(document: Document, span: Span, match: re.Match[str], group: int = 0) -> Span:
    """Return the place of a match within the text that stands at ``span``, quotes included.

    ``match`` was made over ``document.source.slice(span)``.
    """
    start = document.source.index(span.line, span.column)
    return document.source.span(start + match.start(group), start + match.end(group))


def _intervals(document: Document, spans: list[Span]) -> list[tuple[int, int]]:
    index = document.source.index
    return [(index(s.line, s.column), index(s.end_line, s.end_column)) for s in spans]


def _within(match: re.Match[str], intervals: list[tuple[int, int]]) -> bool:
    return any(low <= match.start() and match.end() <= high for low, high in intervals)


def _in_comment(document: Document, match: re.Match[str]) -> bool:
    """Tell a comment inside a value: of the script in a block scalar, between a RUN's lines."""
    start = document.text.rfind("\n", 0, match.start()) + 1
    return _COMMENT.search(document.text[start : match.start()]) is not None
