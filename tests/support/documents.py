"""Documents of the checker, read from texts in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.files.reading import read_document
from tpu_audit.rules.text import SourceText

if TYPE_CHECKING:
    from tpu_audit.rules.files.document import Document, Entry
    from tpu_audit.rules.hit import Span


def read(kind: str, text: str, path: str = "case") -> Document:
    """Read ``text`` as ``kind``."""
    return read_document(kind, path, SourceText(text))


def values(document: Document) -> dict[str, object]:
    """Return the scalars of a document by their dotted keys."""
    return {dotted(entry): entry.value for entry in document.entries if not entry.container}


def dotted(entry: Entry) -> str:
    """Return ``services.app.0``."""
    return ".".join(map(str, entry.keys))


def words(document: Document) -> list[list[str]]:
    """Return the words of each command."""
    return [[word.text for word in command.words] for command in document.commands]


def pins(document: Document) -> list[tuple[str, str]]:
    """Return name and versions of each requirement."""
    return [(found.name, found.specifier) for found in document.requirements]


def at(document: Document, name: str) -> tuple[str, tuple[int, int]]:
    """Return the text and the start of the value whose dotted keys are ``name``."""
    (entry,) = [entry for entry in document.entries if dotted(entry) == name]
    return document.source.slice(entry.span), start(entry.span)


def start(span: Span) -> tuple[int, int]:
    """Return line and column where a span starts."""
    return span.line, span.column
