"""JSON with exact places; comments and trailing commas, which editors allow, are read over."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NoReturn

from tpu_audit.rules.files import flavours, steps
from tpu_audit.rules.files.document import Document, Entry, Key, Value
from tpu_audit.rules.files.errors import MAX_DEPTH, NotReadableError
from tpu_audit.rules.files.packages import entry_requirements
from tpu_audit.rules.text import SourceText

if TYPE_CHECKING:
    from tpu_audit.rules.hit import Span

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]+|\\.|\t)*+"')
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"(?:true|false|null|-?Infinity|NaN)\b")
_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None}
_MAX_DIGITS = 300


def read(path: str, source: SourceText) -> Document:
    """Read a JSON file. Raises ``NotReadableError`` when it is not JSON."""
    entries = scan(source)
    found = flavours.of_json(path, entries)
    return Document(
        kind="json",
        path=path,
        source=source,
        flavours=found,
        entries=entries,
        commands=steps.commands(source, entries, found),
        requirements=entry_requirements(source, entries, found),
    )


def scan(source: SourceText) -> tuple[Entry, ...]:
    """Return every key and item of a JSON text. Raises ``NotReadableError``."""
    return _Scanner(source).scan()


@dataclass(slots=True)
class _Open:
    """A container that is open."""

    place: int
    keys: tuple[Key, ...]
    close: str
    size: int = 0


@dataclass(slots=True)
class _Scanner:
    """Walks over the text with a stack of its own."""

    source: SourceText
    entries: list[Entry] = field(default_factory=list)
    open: list[_Open] = field(default_factory=list)
    at: int = 0

    def scan(self) -> tuple[Entry, ...]:
        self._blank()
        self._value((), None)
        while self.open:
            self._step(self.open[-1])
        self._blank()
        if self.at < len(self.source.text):
            self._fail("text after the end")
        return tuple(self.entries)

    def _step(self, top: _Open) -> None:
        """Take the next member of the open container, or its end."""
        self._blank()
        if self._take(top.close):
            self._close(top)
            return
        if top.size and not self._take(","):
            self._fail(f"',' or '{top.close}' expected")
        self._blank()
        if top.size and self._take(top.close):
            self._close(top)
            return
        key: Key = top.size
        key_span = None
        top.size += 1
        if top.close == "}":
            key, key_span = self._key()
        self._value((*top.keys, key), key_span)

    def _close(self, top: _Open) -> None:
        self.open.pop()
        entry = self.entries[top.place]
        start = self.source.index(entry.span.line, entry.span.column)
        self.entries[top.place] = replace(entry, span=self.source.span(start, self.at))

    def _key(self) -> tuple[str, Span]:
        match = _STRING.match(self.source.text, self.at)
        if not match:
            self._fail("a key in double quotes expected")
        self.at = match.end()
        span = self.source.span(match.start(), match.end())
        self._blank()
        if not self._take(":"):
            self._fail("':' expected")
        self._blank()
        return self._string(match.group()), span

    def _value(self, keys: tuple[Key, ...], key_span: Span | None) -> None:
        start = self.at
        close = {"{": "}", "[": "]"}.get(self.source.text[start : start + 1])
        value: Value = None
        if close:
            self.at += 1
            if len(keys) > MAX_DEPTH:
                self._fail(f"at most {MAX_DEPTH} levels expected")
            self.open.append(_Open(place=len(self.entries), keys=keys, close=close))
        else:
            value = self._scalar()
        span = self.source.span(start, self.at)
        self.entries.append(
            Entry(keys=keys, value=value, span=span, key_span=key_span, container=bool(close))
        )

    def _scalar(self) -> Value:
        text = self.source.text
        for pattern in (_STRING, _NUMBER, _WORD):
            if match := pattern.match(text, self.at):
                self.at = match.end()
                word = match.group()
                if pattern is _STRING:
                    return self._string(word)
                return _number(word, match) if pattern is _NUMBER else _WORDS.get(word, word)
        return self._fail("a value expected")

    def _string(self, literal: str) -> str:
        if "\\" not in literal:
            return literal[1:-1]
        try:
            return str(json.loads(literal, strict=False))
        except ValueError:
            return self._fail("an escape that JSON lacks")

    def _blank(self) -> None:
        match = _BLANK.match(self.source.text, self.at)
        self.at = match.end() if match else self.at

    def _take(self, char: str) -> bool:
        if self.source.text.startswith(char, self.at):
            self.at += 1
            return True
        return False

    def _fail(self, wanted: str) -> NoReturn:
        line, _ = self.source.position(min(self.at, len(self.source.text)))
        raise NotReadableError(f"not valid JSON: {wanted}", line=line)


def _number(word: str, match: re.Match[str]) -> Value:
    if len(word) > _MAX_DIGITS:
        return word
    return float(word) if match.group(1) or match.group(2) else int(word)
