"""A text assembled from pieces of another, and the way back to their places."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Edit, Fix
from tpu_audit.rules.text import SourceText

if TYPE_CHECKING:
    from collections.abc import Callable

    from tpu_audit.rules.hit import Span


@dataclass(slots=True)
class Assembly:
    """Collects pieces: characters, and where in the file they come from."""

    chars: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """For each character the code point index in the file where it begins."""
    ends: list[int] = field(default_factory=list)
    """For each character the index in the file behind it."""

    def add(self, text: str, places: list[int], ends: list[int]) -> None:
        """Add ``text``; places are of its characters."""
        self.chars.append(text)
        self.places += places
        self.ends += ends

    def fill(self, text: str, place: int) -> None:
        """Add characters that the file does not hold; they all sit at ``place``."""
        self.add(text, [place] * len(text), [place] * len(text))


class Mapped:
    """An assembled text with the way back into its file."""

    def __init__(self, file: SourceText, assembly: Assembly) -> None:
        self.file = file
        self.source = SourceText("".join(assembly.chars))
        self._places, self._ends = assembly.places, assembly.ends
        self._byte_index: list[int] | None = None

    def span(self, span: Span) -> Span:
        """Return the place in the file of a span of the assembled text."""
        start = self.source.index(span.line, span.column)
        end = self.source.index(span.end_line, span.end_column)
        low, high = self._range(start, end)
        return self.file.span(low, high)

    def fix(self, fix: Fix, escape: Callable[[str], str]) -> Fix:
        """Return the same repair as edits of the file; ``escape`` writes a text as it holds it."""
        return Fix(
            edits=tuple(self._edit(edit, escape) for edit in fix.edits),
            applicability=fix.applicability,
            adds_imports=fix.adds_imports,
            removes_imports=fix.removes_imports,
        )

    def _edit(self, edit: Edit, escape: Callable[[str], str]) -> Edit:
        low, high = self._range(self._index(edit.start), self._index(edit.end))
        start, end = self.file.byte_range(self.file.span(low, high))
        return Edit(start=start, end=end, text=escape(edit.text))

    def _range(self, start: int, end: int) -> tuple[int, int]:
        if not self._places:
            return 0, 0
        low = self._places[start] if start < len(self._places) else self._ends[-1]
        # The end is behind the last character, not before the next: the two may be lines apart.
        high = self._ends[end - 1] if end > start else low
        return low, max(low, high)

    def _index(self, offset: int) -> int:
        """Return the code point at a byte offset."""
        if self._byte_index is None:
            sizes, at = [0], 0
            for char in self.source.text:
                at += len(char.encode("utf-8", "surrogatepass"))
                sizes.append(at)
            self._byte_index = sizes
        return bisect_right(self._byte_index, offset) - 1
