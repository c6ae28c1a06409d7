"""Text of strangers made safe to print: configs and hub answers end up on terminals."""

from __future__ import annotations

import unicodedata

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Controls, format characters (bidi overrides, zero-width), surrogates, private use, separators."""


def clean(text: str) -> str:
    r"""Return ``text`` on one line, with every character that a terminal obeys spelled out.

    Escape sequences and direction overrides come out as ``\x1b`` and ``\u202e``: still there to
    be seen, with nothing left to obey. Newlines and tabs become spaces.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(char) for char in text)


def _visible(char: str) -> str:
    if char in "\n\r\t":
        return " "
    if unicodedata.category(char) in _UNSAFE_CATEGORIES:
        return char.encode("unicode_escape").decode("ascii")
    return char


def plural(number: int, noun: str, many: str | None = None) -> str:
    """Return ``1 call`` or ``1,234 calls``."""
    word = noun if number == 1 else (many or f"{noun}s")
    return f"{number:,} {word}"


def listed(words: list[str]) -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
