"""The words and operators of a shell script, with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLANK = re.compile(r"(?:[ \t]|\\\r?\n)+")
_PLAIN = re.compile(r"[^\s'\"\\$`;&|()<>]+")
_OPERATOR = re.compile(r"\r?\n|;;&?|;&|;|&&|&>>?|\|\||\|&|\||&|\(|\)|<<<|<<-?|[0-9]*[<>]&?[|>]?")
_QUOTED = re.compile(r"[^\"\\$`]+")
_HEREDOC = re.compile(r"\\?([\w.!-]+)|'([^'\n]*)'|\"([^\"\n]*)\"")

Kind = Literal["word", "operator"]


@dataclass(frozen=True, slots=True)
class Token:
    """A word with its quotes removed, or an operator; ``inner`` are its command substitutions."""

    kind: Kind
    text: str
    start: int
    end: int
    inner: tuple[tuple[int, int], ...] = ()


class Tokenizer:
    """Walks over ``text[start:end]``; bodies of here-documents are stepped over."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.end, self.at = text, end, start
        self.bodies: list[tuple[int, int]] = []
        """Places of the here-documents' bodies, in order."""
        self._waiting: list[str] = []

    def tokens(self) -> Iterator[Token]:
        """Yield every token up to the end."""
        while self.at < self.end:
            if blank := _BLANK.match(self.text, self.at, self.end):
                self.at = blank.end()
            elif self.text[self.at] == "#":
                line_end = self.text.find("\n", self.at, self.end)
                self.at = self.end if line_end < 0 else line_end
            elif operator := _OPERATOR.match(self.text, self.at, self.end):
                yield self._operator(operator)
            else:
                yield self._word()

    def _operator(self, match: re.Match[str]) -> Token:
        start, self.at = self.at, match.end()
        text = match.group().strip("\r") or "\n"
        if text in {"<<", "<<-"}:
            self._await_heredoc()
        elif text == "\n" and self._waiting:
            self._skip_bodies()
        return Token("operator", text, start, match.end())

    def _await_heredoc(self) -> None:
        blank = _BLANK.match(self.text, self.at, self.end)
        match = _HEREDOC.match(self.text, blank.end() if blank else self.at, self.end)
        if match:
            self._waiting.append(next(filter(None, match.groups()), ""))

    def _skip_bodies(self) -> None:
        for delimiter in self._waiting:
            last = re.compile(rf"^[ \t]*{re.escape(delimiter)}\r?$", re.MULTILINE)
            found = last.search(self.text, self.at, self.end)
            self.bodies.append((self.at, found.start() if found else self.end))
            self.at = found.end() if found else self.end
        self._waiting.clear()

    def _word(self) -> Token:
        start = self.at
        parts: list[str] = []
        inner: list[tuple[int, int]] = []
        while self.at < self.end:
            char = self.text[self.at]
            if plain := _PLAIN.match(self.text, self.at, self.end):
                parts.append(plain.group())
                self.at = plain.end()
            elif char == "'":
                parts.append(self._single())
            elif char == '"':
                parts.append(self._double(inner))
            elif char == "\\":
                parts.append(self._escaped())
            elif char in "$`":
                parts.append(self._substitution(inner))
            elif char == "(" and parts and parts[-1].endswith("="):
                parts.append(self._until(")", 1))  # an array's items
            else:
                break
        if self.at == start:  # a character that begins nothing
            self.at += 1
        return Token("word", "".join(parts), start, self.at, tuple(inner))

    def _single(self) -> str:
        close = self.text.find("'", self.at + 1, self.end)
        close = self.end if close < 0 else close
        inside = self.text[self.at + 1 : close]
        self.at = min(close + 1, self.end)
        return inside

    def _double(self, inner: list[tuple[int, int]]) -> str:
        parts = []
        self.at += 1
        while self.at < self.end and self.text[self.at] != '"':
            if run := _QUOTED.match(self.text, self.at, self.end):
                parts.append(run.group())
                self.at = run.end()
            elif self.text[self.at] == "\\":
                parts.append(self._escaped())
            else:
                parts.append(self._substitution(inner))
        self.at = min(self.at + 1, self.end)
        return "".join(parts)

    def _escaped(self) -> str:
        char = self.text[self.at + 1 : self.at + 2]
        self.at = min(self.at + 2, self.end)
        return "" if char == "\n" else char

    def _substitution(self, inner: list[tuple[int, int]]) -> str:
        """Take ``$(...)``, ``${...}``, backquotes or a lone dollar; return them as written."""
        start = self.at
        two = self.text[start : start + 2]
        if two == "$(":
            text = self._until(")", 2)
            inner.append((start + 2, self.at - 1 if text.endswith(")") else self.at))
            return text
        if two == "${":
            return self._until("}", 2)
        if two[0] == "`":
            text = self._until("`", 1)
            inner.append((start + 1, self.at - 1 if len(text) > 1 else self.at))
            return text
        self.at += 1
        return two[0]

    def _until(self, close: str, skip: int) -> str:
        """Take up to the matching ``close``, over quotes and nested brackets of its kind."""
        start, depth = self.at, 1
        opened = {")": "(", "}": "{"}.get(close, "")
        self.at += skip
        while self.at < self.end and depth:
            char = self.text[self.at]
            if char == "\\":
                self.at += 1
            elif char in "'\"" and close != "`":
                self._skip_quoted(char)
                continue
            elif char == close:
                depth -= 1
            elif char == opened:
                depth += 1
            self.at += 1
        self.at = min(self.at, self.end)
        return self.text[start : self.at]

    def _skip_quoted(self, quote: str) -> None:
        self.at += 1
        while self.at < self.end and self.text[self.at] != quote:
            self.at += 2 if quote == '"' and self.text[self.at] == "\\" else 1
        self.at += 1
