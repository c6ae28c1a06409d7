"""Positions in a text: lines and columns for people, byte offsets for edits."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from tpu_audit.rules.hit import Span

_LINE_END = re.compile(r"\r\n|\r|\n")


class SourceText:
    """A text with its line table.

    Lines end as in Python's tokenizer: at a line feed, a carriage return, or both, nowhere else.
    Lines and columns count from 1, columns in code points; offsets from 0, in points or bytes.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def encoded(self) -> bytes:
        """The text as UTF-8: what byte offsets count in."""
        return self.text.encode("utf-8", "surrogatepass")

    @cached_property
    def _starts(self) -> list[int]:
        if len(self.encoded) == len(self.text):
            return self._byte_starts
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    @cached_property
    def _byte_starts(self) -> list[int]:
        # Of bytes, `splitlines` knows these line ends alone; of text it knows others too.
        lines = self.encoded.splitlines(keepends=True)
        starts = [0, *accumulate(map(len, lines))]
        if lines and not lines[-1].endswith((b"\n", b"\r")):
            starts.pop()
        return starts

    def position(self, index: int) -> tuple[int, int]:
        """Return line and column of the code point at ``index``."""
        line = bisect_right(self._starts, index)
        return line, index - self._starts[line - 1] + 1

    def index(self, line: int, column: int) -> int:
        """Return the code point index of a line and column."""
        return self._starts[line - 1] + column - 1

    def span(self, start: int, end: int) -> Span:
        """Return the span of the code points from ``start`` up to ``end``."""
        first, last = self.position(start), self.position(end)
        return Span(line=first[0], column=first[1], end_line=last[0], end_column=last[1])

    def line(self, number: int) -> str:
        """Return one line, without its end."""
        end = self._starts[number] if number < len(self._starts) else len(self.text)
        return self.text[self._starts[number - 1] : end].rstrip("\r\n")

    def slice(self, span: Span) -> str:
        """Return the text that a span covers."""
        start = self.index(span.line, span.column)
        return self.text[start : self.index(span.end_line, span.end_column)]

    def byte_range(self, span: Span) -> tuple[int, int]:
        """Return a span as byte offsets: start and end, for an `Edit`."""
        return self._byte(span.line, span.column), self._byte(span.end_line, span.end_column)

    def byte_offset(self, line: int, column_bytes: int) -> int:
        """Return the byte offset of a line and a column as ``ast`` counts it: bytes from 0."""
        return self._byte_starts[line - 1] + column_bytes

    def column(self, line: int, column_bytes: int) -> int:
        """Return the column, in code points from 1, of ``ast``'s column: bytes from 0."""
        if len(self.encoded) == len(self.text):
            return column_bytes + 1
        start = self._byte_starts[line - 1]
        before = self.encoded[start : start + column_bytes]
        return len(before.decode("utf-8", "replace")) + 1

    def _byte(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        before = self.text[start : start + column - 1]
        return self._byte_starts[line - 1] + len(before.encode("utf-8", "surrogatepass"))
