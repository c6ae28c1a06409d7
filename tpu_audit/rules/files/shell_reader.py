"""Shell scripts: commands, assignments, and the directives of batch systems in their comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.files import flavours
from tpu_audit.rules.files.document import Command, Document, Entry, Word
from tpu_audit.rules.files.packages import command_requirements
from tpu_audit.rules.files.shell_commands import commands

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tpu_audit.rules.text import SourceText

_DIRECTIVE = re.compile(r"^[ \t]*(#(?:SBATCH|PBS|BSUB|COBALT|FLUX|\$))[ \t]+(.*)$", re.MULTILINE)
_WORD = re.compile(r"(?:[^\s\"']|\"[^\"]*\"|'[^']*')+")


def read(path: str, source: SourceText) -> Document:
    """Read a shell script."""
    directives = _directives(source)
    found = [*directives, *commands(source, source.text, 0, len(source.text))]
    return Document(
        kind="shell",
        path=path,
        source=source,
        flavours=flavours.of_shell(path, directives),
        entries=tuple(assignments(found)),
        commands=tuple(found),
        requirements=command_requirements(source, found),
    )


def assignments(found: Iterable[Command]) -> list[Entry]:
    """Return what the commands assign, in order."""
    return [entry for command in found for entry in command.assignments]


def _directives(source: SourceText) -> list[Command]:
    """Return ``#SBATCH --gres=gpu:1`` and its like: comments that a batch system obeys."""
    found = []
    for match in _DIRECTIVE.finditer(source.text):
        text = match.group(2).partition(" #")[0].rstrip()
        options = _WORD.finditer(source.text, match.start(2), match.start(2) + len(text))
        words = [
            _word(source, match.start(1), match.group(1)),
            *(_word(source, option.start(), option.group()) for option in options),
        ]
        span = source.span(match.start(1), match.start(2) + len(text))
        found.append(Command(words=tuple(words), span=span))
    return found


def _word(source: SourceText, start: int, raw: str) -> Word:
    text = raw.replace('"', "").replace("'", "")
    return Word(text=text, span=source.span(start, start + len(raw)))
