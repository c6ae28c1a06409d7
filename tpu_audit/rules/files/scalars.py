"""Types of unquoted scalars in YAML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpu_audit.rules.files.document import Value

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("", "~", "null"), None),
}
_INT = re.compile(r"[-+]?[0-9][0-9_]*")
_FLOAT = re.compile(r"[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?")
_MAX_DIGITS = 300
"""Longer numbers stay text: Python refuses to convert them beyond some length."""


def plain_scalar(text: str) -> Value:
    """Return the value of an unquoted YAML scalar: null, bool, int, float or the text itself."""
    word = text.lower() if len(text) <= len("false") else text
    if word in _WORDS:
        return _WORDS[word]
    if text[:1] in "+-.0123456789" and len(text) <= _MAX_DIGITS:
        if _INT.fullmatch(text):
            return int(text.replace("_", ""))
        if _FLOAT.fullmatch(text):
            return float(text.replace("_", ""))
    return text
