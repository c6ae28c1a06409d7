"""The parts of a file that are read each by its own rules: a notebook has two, others one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tpu_audit.check.result import Comment, Gap
from tpu_audit.rules.files.pieces import Mapped
from tpu_audit.rules.hit import Span
from tpu_audit.rules.text import SourceText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A text of one kind, and where it stands in its file."""

    kind: str
    source: SourceText
    mapped: Mapped | None = None
    """The way back to the file; None where the part is the file."""
    gaps: tuple[Gap, ...] = ()

    def place(self, span: Span) -> Span:
        """Return the place in the file of a place in the part."""
        return self.mapped.span(span) if self.mapped else span

    def comment(self, comment: Comment) -> Comment:
        """Return a comment of the part with its places in the file."""
        if self.mapped is None:
            return comment
        there = self.place(_span(comment.line, comment.column, comment.end_column))
        return replace(
            comment,
            line=there.line,
            column=there.column,
            end_column=there.end_column,
            first=self.place(_span(comment.first, 1, 1)).line,
            last=self.place(_span(comment.last, 1, 1)).line,
        )

    def repair(self, fix: Fix) -> Fix:
        """Return a repair of the part as a repair of the file."""
        if self.mapped is None:
            return fix
        from tpu_audit.rules.files.notebook_reader import escape  # notebooks are the mapped ones

        return self.mapped.fix(fix, escape)


def _span(line: int, start: int, end: int) -> Span:
    return Span(line=line, column=start, end_line=line, end_column=end)


def parts_of(kind: str, source: SourceText) -> Iterator[Part]:
    """Yield the parts of a file. Raises ``NotReadableError`` when a notebook is none."""
    if kind != "notebook":
        yield Part(kind=kind, source=source)
        return
    from tpu_audit.rules.files.notebook_reader import read  # for notebooks only

    notebook = read(source)
    gaps = tuple(
        Gap("syntax", "a cell that is not Python was left out", line) for line in notebook.unparsed
    )
    yield Part(kind="python", source=notebook.python.source, mapped=notebook.python, gaps=gaps)
    if notebook.shell.source.text:
        yield Part(kind="shell", source=notebook.shell.source, mapped=notebook.shell)
