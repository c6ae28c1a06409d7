"""Commands inside YAML and JSON: CI steps, container commands, scripts in block scalars."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.files.document import Command, Entry, Word
from tpu_audit.rules.files.shell_commands import commands as shell_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.text import SourceText

_SCRIPTS = frozenset(
    [
        "run",
        "script",
        "before_script",
        "after_script",
        "setup",
        "entrypoint",
        "bash",
        "command",
        "commands",
        "cmd",
        "shell",
        "install",
        "before_install",
        "postCreateCommand",
        "onCreateCommand",
    ]
)
_WORD_LISTS = frozenset({"command", "args", "entrypoint", "runArgs", "cmd"})
_BLOCK = re.compile(r"[|>][-+0-9]*[ \t]*(?:#[^\n]*)?\r?\n")
_SHELL_FLAG = re.compile(r"-\w*c$")


def commands(
    source: SourceText, entries: tuple[Entry, ...], flavours: frozenset[str]
) -> tuple[Command, ...]:
    """Return the commands that the file's values hold, with their places in the file."""
    lists: dict[tuple[object, ...], list[Entry]] = {}
    found: list[Command] = []
    for entry in entries:
        named = [key for key in entry.keys[-2:] if isinstance(key, str)]
        if entry.container or not named or not isinstance(entry.value, str):
            continue
        if isinstance(entry.key, int) and named[-1] in _WORD_LISTS and "ci" not in flavours:
            lists.setdefault((entry.stream, *entry.keys[:-1]), []).append(entry)
        elif named[-1] in _SCRIPTS and _is_script(entry, flavours):
            found += _script(source, entry)
    for items in lists.values():
        found += _word_list(source, items)
    return tuple(found)


def _is_script(entry: Entry, flavours: frozenset[str]) -> bool:
    """Tell a command from an option that is merely called ``run`` or ``setup``."""
    return bool(flavours & {"ci", "compose", "kubernetes"}) or " " in str(entry.value).strip()


def _script(source: SourceText, entry: Entry) -> list[Command]:
    start, end = _place(source, entry)
    return shell_commands(source, source.text, start, end)


def _place(source: SourceText, entry: Entry) -> tuple[int, int]:
    """Return the place of a scalar's content: without quotes, without a block's header."""
    span = entry.span
    start = source.index(span.line, span.column)
    end = source.index(span.end_line, span.end_column)
    if block := _BLOCK.match(source.text, start, end):
        return block.end(), end
    if source.text[start : start + 1] in {"'", '"'}:
        return start + 1, end - 1
    return start, end


def _word_list(source: SourceText, items: list[Entry]) -> Iterator[Command]:
    """Yield ``["sh", "-c", "..."]`` as a command, and the script in it as commands."""
    words = tuple(Word(text=str(item.value), span=item.span) for item in items)
    first, last = items[0].span, items[-1].span
    start = source.index(first.line, first.column)
    yield Command(
        words=words, span=source.span(start, source.index(last.end_line, last.end_column))
    )
    for place, item in enumerate(items):
        after_flag = place and _SHELL_FLAG.match(str(items[place - 1].value))
        if after_flag or "\n" in str(item.value):
            yield from _script(source, item)
