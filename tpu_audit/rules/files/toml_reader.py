"""TOML with exact places: what ``tomllib`` accepts, scanned again for where it stands."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NoReturn

from tpu_audit.rules.files import flavours
from tpu_audit.rules.files.document import Document, Entry, Key, Value
from tpu_audit.rules.files.errors import MAX_DEPTH, NotReadableError
from tpu_audit.rules.files.packages import entry_requirements
from tpu_audit.rules.text import SourceText

if TYPE_CHECKING:
    from tpu_audit.rules.hit import Span

_BLANK = re.compile(r"[ \t]*+")
_GAP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*+")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}|\'\'\'(?:[^\']|\'(?!\'\'))*+\'{3,5}'
    r'|"(?:[^"\\\n]|\\.)*+"|\'[^\'\n]*+\'',
    re.DOTALL,
)
_ATOM = re.compile(r"[^\s,\]}#]+(?: [0-9]{2}:[^\s,\]}#]+)?")
_LINE = re.compile(r"at line (\d+)")


def read(path: str, source: SourceText) -> Document:
    """Read a TOML file. Raises ``NotReadableError`` when it is not TOML."""
    try:
        tomllib.loads(source.text)
    except (ValueError, RecursionError) as error:
        line = _LINE.search(str(error))
        message = f"not valid TOML: {str(error).partition(' (at ')[0] or 'nested too deep'}"
        raise NotReadableError(message, line=int(line.group(1)) if line else None) from error
    entries = _Scanner(source).scan()
    found = frozenset(flavours.named(path))
    return Document(
        kind="toml",
        path=path,
        source=source,
        flavours=found,
        entries=entries,
        requirements=entry_requirements(source, entries, found),
    )


@dataclass(slots=True)
class _Scanner:
    """Walks over text that is known to be valid; it only has to find the places."""

    source: SourceText
    entries: list[Entry] = field(default_factory=list)
    at: int = 0
    table: tuple[Key, ...] = ()
    sizes: dict[tuple[Key, ...], int] = field(default_factory=dict)
    """How many tables each array of tables holds so far."""

    def scan(self) -> tuple[Entry, ...]:
        text = self.source.text
        while True:
            self._skip(_GAP)
            if self.at >= len(text):
                return tuple(self.entries)
            if text[self.at] == "[":
                self._header()
            else:
                self._pair(self.table)

    def _header(self) -> None:
        start, many = self.at, self.source.text.startswith("[[", self.at)
        self.at += 2 if many else 1
        keys, _ = self._keys()
        self.at += 2 if many else 1
        keys = self._indexed(keys)
        if many:
            place = self.sizes[keys] = self.sizes.get(keys, -1) + 1
            keys = (*keys, place)
        self.table = keys
        self._add(keys, None, start, None, container=True)

    def _indexed(self, keys: tuple[Key, ...]) -> tuple[Key, ...]:
        """Return ``keys`` with the place of the last table in each array of tables on the way."""
        whole: tuple[Key, ...] = ()
        for number, key in enumerate(keys):
            whole = (*whole, key)
            if number < len(keys) - 1 and whole in self.sizes:
                whole = (*whole, self.sizes[whole])
        return whole

    def _pair(self, table: tuple[Key, ...]) -> None:
        keys, span = self._keys()
        self.at += 1  # the equals sign
        self._skip(_BLANK)
        self._value((*table, *keys), span)

    def _keys(self) -> tuple[tuple[Key, ...], Span]:
        """Read ``a."b c".d``; the span is the last part's."""
        keys: list[Key] = []
        while True:
            self._skip(_BLANK)
            match = _BARE.match(self.source.text, self.at) or _STRING.match(
                self.source.text, self.at
            )
            if not match:
                self._lost()
            keys.append(_text(match.group()))
            self.at = match.end()
            self._skip(_BLANK)
            if not self.source.text.startswith(".", self.at):
                return tuple(keys), self.source.span(match.start(), match.end())
            self.at += 1

    def _value(self, keys: tuple[Key, ...], key_span: Span | None) -> None:
        text, start = self.source.text, self.at
        if text[start : start + 1] in {"[", "{"}:
            self._container(keys, key_span)
            return
        match = _STRING.match(text, start) or _ATOM.match(text, start)
        if not match:
            self._lost()
        self.at = match.end()
        word = match.group()
        self._add(keys, _text(word) if word[0] in "\"'" else _atom(word), start, key_span)

    def _container(self, keys: tuple[Key, ...], key_span: Span | None) -> None:
        """Read an array or an inline table."""
        start, place, size = self.at, len(self.entries), 0
        if len(keys) > MAX_DEPTH:
            self._lost()
        close = "]" if self.source.text[start] == "[" else "}"
        self._add(keys, None, start, key_span, container=True)
        self.at += 1
        while True:
            self._skip(_GAP)
            if self.source.text.startswith((close, ","), self.at):
                self.at += 1
                if self.source.text[self.at - 1] == close:
                    break
            elif close == "]":
                self._value((*keys, size), None)
                size += 1
            elif self.at < len(self.source.text):
                self._pair(keys)
            else:
                self._lost()
        span = self.source.span(start, self.at)
        self.entries[place] = replace(self.entries[place], span=span)

    def _add(
        self,
        keys: tuple[Key, ...],
        value: Value,
        start: int,
        key_span: Span | None,
        *,
        container: bool = False,
    ) -> None:
        span = self.source.span(start, self.at)
        self.entries.append(
            Entry(keys=keys, value=value, span=span, key_span=key_span, container=container)
        )

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.source.text, self.at)
        self.at = match.end() if match else self.at

    def _lost(self) -> NoReturn:
        line, _ = self.source.position(min(self.at, len(self.source.text)))
        raise NotReadableError("not TOML that this reader follows", line=line)


def _text(literal: str) -> str:
    """Return the text of a key or string literal."""
    if literal[0] not in "\"'":
        return literal
    return str(tomllib.loads(f"x = {literal}")["x"])


def _atom(word: str) -> Value:
    value = tomllib.loads(f"x = {word}")["x"]
    return value if isinstance(value, bool | int | float) else word
