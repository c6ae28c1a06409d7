"""Makefiles: variables, and the commands of recipes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.files import flavours
from tpu_audit.rules.files.document import Command, Document, Entry
from tpu_audit.rules.files.packages import command_requirements
from tpu_audit.rules.files.shell_commands import commands

if TYPE_CHECKING:
    from tpu_audit.rules.text import SourceText

_RECIPE = re.compile(r"^\t[ \t]*[@+-]*((?:[^\\\r\n]+|\\\r?\n|\\)*+)", re.MULTILINE)
_VARIABLE = re.compile(
    r"^(?:export[ \t]+|override[ \t]+)*([A-Za-z_][\w.-]*)[ \t]*(?:[:?+!]|::)?=[ \t]*"
    r"((?:[^\\\r\n#]+|\\\r?\n|\\)*+)",
    re.MULTILINE,
)
_COMMENT = re.compile(r"^#[^\r\n]*", re.MULTILINE)


def read(path: str, source: SourceText) -> Document:
    """Read a Makefile."""
    text = _COMMENT.sub(lambda match: " " * len(match.group()), source.text)
    found: list[Command] = []
    for match in _RECIPE.finditer(text):
        found += commands(source, text, match.start(1), match.end(1))
    return Document(
        kind="makefile",
        path=path,
        source=source,
        flavours=frozenset(flavours.named(path)),
        entries=tuple(_entry(source, match) for match in _VARIABLE.finditer(text)),
        commands=tuple(found),
        requirements=command_requirements(source, found),
    )


def _entry(source: SourceText, match: re.Match[str]) -> Entry:
    value = match.group(2).rstrip()
    return Entry(
        keys=(match.group(1),),
        value=value,
        span=source.span(match.start(2), match.start(2) + len(value)),
        key_span=source.span(match.start(1), match.end(1)),
    )
