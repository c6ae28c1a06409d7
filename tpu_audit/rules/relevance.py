"""Which rules have something to look for in a text, told by its words before it is parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tpu_audit.rules.rule import Dispatch, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

_ASCII = 128
_WORD_BYTES = bytes(
    byte if byte >= _ASCII or chr(byte).isalnum() or byte == ord("_") else ord(" ")
    for byte in range(256)
)
"""Turns what is not in a word to spaces."""
_WORD = re.compile(r"\w+", re.ASCII)


def words_of(text: str) -> frozenset[bytes]:
    """Return the words of a text: its runs of letters, digits and underscores.

    A line end written as an escape, as in notebooks, ends a word too.
    """
    data = text.encode("utf-8", "surrogatepass").replace(b"\\n", b" ").replace(b"\\t", b" ")
    return frozenset(data.translate(_WORD_BYTES).split())


def relevant(rules: Iterable[Rule], text: str, kind: str = "") -> tuple[Rule, ...]:
    """Return the rules that have something to look for in a text. Cheap: nothing is parsed.

    ``kind`` leaves out those that look at other kinds of files alone.
    """
    plan = _plan(tuple(rules), kind)
    words = words_of(text)
    parts = _parts(plan, words, text)
    return tuple(
        rule
        for rule, whole, begin in plan.rules
        if not (whole or begin) or not whole.isdisjoint(words) or not begin.isdisjoint(parts)
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """What rules look for, ready to be compared."""

    rules: tuple[tuple[Rule, frozenset[bytes], frozenset[str]], ...]
    """Each with its whole words, and the texts that need not be whole words."""
    parts: tuple[tuple[str, bytes], ...]
    """All such texts, each with the longest piece of a word in it."""


@lru_cache(maxsize=256)
def _plan(rules: tuple[Rule, ...], kind: str) -> _Plan:
    rows = []
    for rule in rules:
        if _reads(rule, kind):
            words = (kind == "python" and rule.words_in_python) or rule.words
            whole = frozenset(word.encode() for word in words if not word.endswith("*"))
            begin = frozenset(word[:-1] for word in words if word.endswith("*"))
            rows.append((rule, whole, begin))
    parts = {part for _, _, begin in rows for part in begin}
    return _Plan(tuple(rows), tuple((part, _longest(part)) for part in sorted(parts)))


def _longest(part: str) -> bytes:
    return max(_WORD.findall(part), key=len, default="").encode()


def _parts(plan: _Plan, words: frozenset[bytes], text: str) -> set[str]:
    """Return the parts that a text holds.

    Their pieces of words are sought in each word once first, not wherever the text repeats it.
    """
    once = b" ".join(words)
    near = [(part, piece) for part, piece in plan.parts if piece in once]
    return {part for part, piece in near if len(part) == len(piece) or part in text}


def _reads(rule: Rule, kind: str) -> bool:
    if kind in {"", "notebook"}:
        return True
    python = kind == "python"
    return any((check.dispatch is not Dispatch.DOCUMENT) is python for check in rule.checks)
