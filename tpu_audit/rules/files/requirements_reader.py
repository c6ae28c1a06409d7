"""Requirements and constraints files of pip."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.files import flavours
from tpu_audit.rules.files.document import Command, Document, Requirement, Word
from tpu_audit.rules.files.packages import requirement
from tpu_audit.rules.files.requirement_text import parse

if TYPE_CHECKING:
    from tpu_audit.rules.text import SourceText

_LOGICAL = re.compile(r"(?:[^\\\r\n]+|\\\r?\n|\\)*")
_COMMENT = re.compile(r"(?:^|[ \t])#[^\r\n]*")
_WORD = re.compile(r"[^\s\\=]+(?:=[^\s\\]*)?|=[^\s\\]*")
_TAIL = re.compile(r"\s+(?:--[a-z]|\\)|\s*$", re.DOTALL)


def read(path: str, source: SourceText) -> Document:
    """Read a requirements file: its requirements, and its options (``--index-url``) as commands."""
    # A comment's characters become blanks, so that a continued line keeps its places.
    text = _COMMENT.sub(lambda match: " " * len(match.group()), source.text)
    requirements, commands = [], []
    for match in _LOGICAL.finditer(text):
        start = match.start() + len(match.group()) - len(match.group().lstrip())
        if start >= match.end():
            continue
        if text[start] == "-":
            commands.append(_options(source, text, start, match.end()))
        requirements += _requirement(source, text, start, match.end())
    return Document(
        kind="requirements",
        path=path,
        source=source,
        flavours=flavours.of_requirements(path),
        commands=tuple(commands),
        requirements=tuple(requirements),
    )


def _options(source: SourceText, text: str, start: int, end: int) -> Command:
    words = [
        Word(text=match.group(), span=source.span(match.start(), match.end()))
        for match in _WORD.finditer(text, start, end)
    ]
    return Command(words=tuple(words), span=source.span(start, end))


def _requirement(source: SourceText, text: str, start: int, end: int) -> list[Requirement]:
    body = text[start:end]
    for editable in ("-e", "--editable"):
        if body.startswith((editable + " ", editable + "=")):
            start += len(editable) + 1
            body = text[start:end]
    if body.startswith("-"):
        return []
    tail = _TAIL.search(body)
    body = body[: tail.start()] if tail else body
    parsed = parse(body)
    return [requirement(parsed, source.span(start, start + len(body)))] if parsed else []
