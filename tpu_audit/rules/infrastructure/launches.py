"""Commands that start one process a device: torchrun, accelerate, DeepSpeed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tpu_audit.rules.files.document import Word
from tpu_audit.rules.files.shell_commands import commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Command, Document

_TORCHRUN = frozenset(
    {"torch.distributed.run", "torch.distributed.launch", "torch.distributed.elastic"}
)
_MODULES = {"accelerate.commands.launch": "accelerate", "deepspeed.launcher.runner": "deepspeed"}
_SHELLS = frozenset({"sh", "bash", "zsh", "ssh"})
"""Programs whose scripts the readers follow."""
_SCRIPT_FLAGS = frozenset({"-c", "-lc", "-ec", "--wrap"})
_END = (".py", ".sh")


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """One such command."""

    launcher: str
    """``torchrun``, ``accelerate`` or ``deepspeed``."""
    word: Word
    """Names the launcher."""
    options: tuple[tuple[str, str, Word], ...]
    """Option, value, and the option's word; up to the script, whose own options are not these."""


def launches(document: Document) -> Iterator[Launch]:
    """Yield every launch among the file's commands, also behind ``srun`` and the like."""
    for command in _commands(document):
        found = _launcher(command)
        if found is not None:
            launcher, place = found
            yield Launch(
                launcher=launcher,
                word=command.words[place],
                options=tuple(_options(command.words[place + 1 :])),
            )


def _commands(document: Document) -> Iterator[Command]:
    """Yield the commands, and those in a script that another program hands to a shell."""
    for command in document.commands:
        yield command
        for flag, word in pairwise(command.words if command.name not in _SHELLS else ()):
            if flag.text in _SCRIPT_FLAGS and " " in word.text:
                start = document.source.index(word.span.line, word.span.column) + 1
                end = document.source.index(word.span.end_line, word.span.end_column) - 1
                yield from commands(document.source, document.text, start, end)


def _launcher(command: Command) -> tuple[str, int] | None:
    """Return the launcher and the place of the word that names it."""
    texts = [word.text for word in command.words]
    for place, text in enumerate(texts):
        name = text.rpartition("/")[2]
        after = texts[place + 1] if place + 1 < len(texts) else ""
        if name == "torchrun" or (name == "deepspeed" and "." in " ".join(texts[place + 1 :])):
            return name, place
        if name == "accelerate" and after == "launch":
            return name, place + 1
        if text == "-m" and after in _TORCHRUN:
            return "torchrun", place + 1
        if text == "-m" and after in _MODULES:
            return _MODULES[after], place + 1
        if (name.endswith(_END) and place) or text == "echo":
            return None
    return None


def _options(words: tuple[Word, ...]) -> Iterator[tuple[str, str, Word]]:
    place = 0
    while place < len(words):
        word = words[place]
        head, equals, value = word.text.partition("=")
        if not head.startswith("-"):
            if head.endswith(_END):
                return
            place += 1
            continue
        follows = place + 1 < len(words) and not words[place + 1].text.startswith("-")
        if not equals and follows and not words[place + 1].text.endswith(_END):
            value = words[place + 1].text
            place += 1
        yield head.replace("_", "-"), value, word
        place += 1
