"""Dockerfiles: instructions, the commands they run, what they install."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.files import flavours
from tpu_audit.rules.files.document import Command, Document, Entry, Word
from tpu_audit.rules.files.packages import command_requirements
from tpu_audit.rules.files.shell_commands import commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.text import SourceText

_COMMENT = re.compile(r"^[ \t]*#[^\r\n]*", re.MULTILINE)
_INSTRUCTION = re.compile(r"^[ \t]*([A-Za-z]+)[ \t]+", re.MULTILINE)
_BODY = re.compile(r"(?:[^\\`\r\n]+|[\\`][ \t]*\r?\n(?:[ \t]*\r?\n)*|[\\`])*+")
_HEREDOC = re.compile(r"<<-?[\"']?(\w+)[\"']?")
_OPTION = re.compile(r"--[\w-]+(?:=\S+)?\s+")
_PAIR = re.compile(r"([\w.-]+)=(\"(?:[^\"\\]|\\.)*+\"|'[^']*+'|(?:[^\s\\]|\\\S)*+)", re.DOTALL)
_OLD_PAIR = re.compile(r"([\w.-]+)\s+(.*\S)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{(\w+)(?::?-([^}]*))?\}|\$(\w+)")
_JSON_WORD = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_PAIRED = frozenset({"ENV", "ARG", "LABEL"})
_RUNNING = frozenset({"RUN", "CMD", "ENTRYPOINT"})


def read(path: str, source: SourceText) -> Document:
    """Read a Dockerfile. A FROM's value has the defaults of earlier ARGs filled in."""
    reader = _Reader(source)
    reader.read()
    return Document(
        kind="dockerfile",
        path=path,
        source=source,
        flavours=frozenset(flavours.named(path)),
        entries=tuple(reader.entries),
        commands=tuple(reader.commands),
        requirements=command_requirements(source, reader.commands),
    )


class _Reader:
    def __init__(self, source: SourceText) -> None:
        self.source = source
        # Comments stand between the lines of one instruction; as blank lines that are continued
        # they are passed over, by the shell too.
        self.text = _COMMENT.sub(lambda match: " " * (len(match.group()) - 1) + "\\", source.text)
        self.entries: list[Entry] = []
        self.commands: list[Command] = []
        self.defaults: dict[str, str] = {}

    def read(self) -> None:
        at = 0
        while match := _INSTRUCTION.search(self.text, at):
            word, start = match.group(1).upper(), match.end()
            body = _BODY.match(self.text, start)
            end = body.end() if body else start
            if word == "ONBUILD":
                at = start  # what follows is an instruction again, on the same line
                self.text = (
                    self.text[: match.start()] + " " * (start - match.start()) + (self.text[start:])
                )
                at = match.start()
                continue
            self._instruction(word, start, end)
            at = self._behind_heredocs(word, start, end)

    def _instruction(self, word: str, start: int, end: int) -> None:
        while option := _OPTION.match(self.text, start, end):
            if word == "RUN" and option.group().startswith("--gpus"):
                break
            start = option.end()
        while end > start and self.text[end - 1] in " \t\r\n\\`":
            end -= 1
        if word == "FROM":
            self._from(start, end)
        elif word in _PAIRED:
            self.entries += self._pairs(word, start, end)
        else:
            value = self.text[start:end]
            self.entries.append(Entry(keys=(word,), value=value, span=self.source.span(start, end)))
        if word in _RUNNING:
            self.commands += self._run(start, end)

    def _from(self, start: int, end: int) -> None:
        image = re.compile(r"\S+").match(self.text, start, end)
        if image:
            value = _VARIABLE.sub(self._default, image.group())
            span = self.source.span(*image.span())
            self.entries.append(Entry(keys=("FROM",), value=value, span=span))

    def _default(self, match: re.Match[str]) -> str:
        name = match.group(1) or match.group(3)
        return self.defaults.get(name) or match.group(2) or match.group()

    def _pairs(self, word: str, start: int, end: int) -> Iterator[Entry]:
        pairs = list(_PAIR.finditer(self.text, start, end))
        if not pairs or (
            not self.text[start : pairs[0].start()].isspace() and (pairs[0].start() != start)
        ):
            old = _OLD_PAIR.match(self.text, start, end)
            pairs = [old] if old else []
        for match in pairs:
            raw = match.group(2)
            value = raw[1:-1] if raw[:1] in {'"', "'"} and len(raw) > 1 else raw
            if word == "ARG":
                self.defaults[match.group(1)] = value
            yield Entry(
                keys=(word, match.group(1)),
                value=value,
                span=self.source.span(match.start(2), match.end(2)),
                key_span=self.source.span(match.start(1), match.end(1)),
            )

    def _run(self, start: int, end: int) -> list[Command]:
        if not self.text.startswith("[", start):
            low, high = self._heredoc(start, end) or (start, end)
            return commands(self.source, self.text, low, high)
        words = [
            Word(text=match.group(1), span=self.source.span(*match.span()))
            for match in _JSON_WORD.finditer(self.text, start, end)
        ]
        found = [Command(words=tuple(words), span=self.source.span(start, end))] if words else []
        for flag, script in itertools.pairwise(words):
            if flag.text in {"-c", "-lc", "-ec"}:
                low = self.source.index(script.span.line, script.span.column) + 1
                found += commands(self.source, self.text, low, low + len(script.text))
        return found

    def _heredoc(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the place of the script in ``RUN <<EOF``; None for other forms."""
        match = _HEREDOC.match(self.text, start, end)
        if not match:
            return None
        last = self._last_line(match.group(1), end)
        return end, last.start() if last else len(self.text)

    def _behind_heredocs(self, word: str, start: int, end: int) -> int:
        if word in {"RUN", "COPY", "ADD"}:
            for match in _HEREDOC.finditer(self.text, start, end):
                last = self._last_line(match.group(1), end)
                end = last.end() if last else len(self.text)
        return end

    def _last_line(self, delimiter: str, at: int) -> re.Match[str] | None:
        pattern = re.compile(rf"^[ \t]*{re.escape(delimiter)}\r?$", re.MULTILINE)
        return pattern.search(self.text, at)
