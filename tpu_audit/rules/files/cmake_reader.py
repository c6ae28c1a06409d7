"""CMake: every call as a command, its name in lower case."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.files import flavours
from tpu_audit.rules.files.document import Command, Document, Word

if TYPE_CHECKING:
    from tpu_audit.rules.text import SourceText

_COMMENT = re.compile(r"#\[(=*)\[.*?\]\1\]|#[^\r\n]*", re.DOTALL)
_QUOTED_OR_COMMENT = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|" + _COMMENT.pattern, re.DOTALL)
_CALL = re.compile(r"([A-Za-z_]\w*)[ \t]*\(")
_ARGUMENT = re.compile(r"\"((?:[^\"\\]|\\.)*+)\"|([^\s()\"]+)|([()])", re.DOTALL)


def read(path: str, source: SourceText) -> Document:
    """Read a CMakeLists.txt or a .cmake file."""
    text = _QUOTED_OR_COMMENT.sub(_blank_comment, source.text)
    found, at = [], 0
    while match := _CALL.search(text, at):
        words, at = _arguments(source, text, match.end())
        name = Word(text=match.group(1).lower(), span=source.span(match.start(1), match.end(1)))
        span = source.span(match.start(1), at)
        found.append(Command(words=(name, *words), span=span))
    return Document(
        kind="cmake",
        path=path,
        source=source,
        flavours=frozenset(flavours.named(path)),
        commands=tuple(found),
    )


def _blank_comment(match: re.Match[str]) -> str:
    text = match.group()
    return text if text.startswith('"') else re.sub(r"[^\r\n]", " ", text)


def _arguments(source: SourceText, text: str, at: int) -> tuple[list[Word], int]:
    """Read arguments up to the closing bracket; return them and the place behind it."""
    words, depth = [], 1
    for match in _ARGUMENT.finditer(text, at):
        if match.group(3):
            depth += 1 if match.group(3) == "(" else -1
        else:
            word = match.group(1) if match.group(1) is not None else match.group(2)
            words.append(Word(text=word, span=source.span(*match.span())))
        if depth == 0:
            return words, match.end()
    return words, len(text)
