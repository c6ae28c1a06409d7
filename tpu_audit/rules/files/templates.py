"""Helm and Jinja templates made readable as the format they produce."""

from __future__ import annotations

import re

_TAG = re.compile(r"\{\{.{0,4000}?\}\}|\{%.{0,4000}?%\}|\{#.{0,4000}?#\}", re.DOTALL)
_NOT_LINE_END = re.compile(r"[^\r\n]")
_MARK = "\0"
"""Stands for a character of a tag; decoded text never holds it."""
_LONE = re.compile(rf"^[ \t{_MARK}]*{_MARK}[ \t{_MARK}]*(?=\r?$)", re.MULTILINE)


def has_templates(text: str) -> bool:
    """Tell whether ``text`` holds anything that ``mask`` would change."""
    return ("{{" in text or "{%" in text or "{#" in text) and _TAG.search(text) is not None


def mask(text: str) -> str:
    """Return ``text`` with every template tag overwritten, at the same length and lines.

    Tags that stand alone on their lines become blanks, others the letter ``x`` repeated: part of
    a key or a value, whose real text is still in the source at the same place.
    """
    marked = _TAG.sub(lambda match: _NOT_LINE_END.sub(_MARK, match.group()), text)
    blanked = _LONE.sub(lambda match: " " * len(match.group()), marked)
    return blanked.replace(_MARK, "x")
