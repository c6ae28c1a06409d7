"""INI: setup.cfg, tox.ini, pytest.ini, .conf; sections, options, values over several lines."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tpu_audit.rules.files import flavours
from tpu_audit.rules.files.document import Command, Document, Entry, Requirement
from tpu_audit.rules.files.packages import requirement
from tpu_audit.rules.files.requirement_text import parse
from tpu_audit.rules.files.scalars import plain_scalar
from tpu_audit.rules.files.shell_commands import commands

if TYPE_CHECKING:
    from tpu_audit.rules.text import SourceText

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_SECTION = re.compile(r"\s*\[([^\]\r\n]+)\]")
_OPTION = re.compile(r"([^\s=:#;\[][^=:\r\n]*?)\s*[=:]\s*([^\r\n]*?)\s*$")
_COMMENT = re.compile(r"\s*[#;]")
_INLINE = re.compile(r"\s[#;].*$")
_DEPENDENCIES = frozenset(
    {"install_requires", "setup_requires", "tests_require", "deps", "requires"}
)
_COMMANDS = frozenset({"commands", "commands_pre", "commands_post"})


def read(path: str, source: SourceText) -> Document:
    """Read an INI file; lines that are nothing are passed over, as its many dialects ask."""
    entries = tuple(_entries(source))
    return Document(
        kind="ini",
        path=path,
        source=source,
        flavours=frozenset(flavours.named(path)),
        entries=entries,
        commands=tuple(_commands(source, entries)),
        requirements=tuple(_requirements(source, entries)),
    )


def _entries(source: SourceText) -> list[Entry]:
    section, found = "", list[Entry]()
    open_option = False
    for match in _LINE.finditer(source.text):
        line = match.group().rstrip("\r\n")
        if not line.strip() or _COMMENT.match(line):
            continue
        if head := _SECTION.match(line):
            section, open_option = head.group(1).strip(), False
        elif open_option and line[0] in " \t":
            found[-1] = _longer(source, found[-1], match.start(), line)
        elif option := _OPTION.match(line):
            found.append(_entry(source, section, option, match.start()))
            open_option = True
        else:
            open_option = False
    return found


def _entry(source: SourceText, section: str, match: re.Match[str], base: int) -> Entry:
    text = _INLINE.sub("", match.group(2))
    start = base + match.start(2)
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return Entry(
        keys=(section, match.group(1)),
        value=text[1:-1] if quoted else plain_scalar(text),
        span=source.span(start, start + len(text)),
        key_span=source.span(base + match.start(1), base + match.end(1)),
    )


def _longer(source: SourceText, entry: Entry, base: int, line: str) -> Entry:
    """Add a continuation line to an option's value."""
    text = _INLINE.sub("", line.rstrip())
    value = "" if entry.value is None else str(entry.value)
    start = source.index(entry.span.line, entry.span.column)
    return replace(
        entry,
        value=f"{value}\n{text.strip()}" if value else text.strip(),
        span=source.span(start, base + len(text)),
    )


def _requirements(source: SourceText, entries: tuple[Entry, ...]) -> list[Requirement]:
    found = []
    for entry in entries:
        if entry.key in _DEPENDENCIES or entry.keys[0] == "options.extras_require":
            for start, text in _lines(source, entry):
                # tox puts the environment in front: ``py311: torch``
                skip = re.match(r"[\w,{}!-]+:\s*(?!/)", text)
                low = start + (skip.end() if skip else 0)
                body = text[low - start :]
                parsed = None if body.startswith("-") else parse(body)
                if parsed:
                    found.append(requirement(parsed, source.span(low, low + len(body))))
    return found


def _commands(source: SourceText, entries: tuple[Entry, ...]) -> list[Command]:
    found = []
    for entry in entries:
        if entry.key in _COMMANDS:
            for start, text in _lines(source, entry):
                found += commands(source, source.text, start, start + len(text))
    return found


def _lines(source: SourceText, entry: Entry) -> list[tuple[int, str]]:
    """Return the lines of a value with their starts, without comments."""
    base = source.index(entry.span.line, entry.span.column)
    raw = source.slice(entry.span)
    found = []
    for match in re.finditer(r"[^\r\n]+", raw):
        text = _INLINE.sub("", match.group())
        if text.strip() and not _COMMENT.match(text):
            lead = len(text) - len(text.lstrip())
            found.append((base + match.start() + lead, text.strip()))
    return found
