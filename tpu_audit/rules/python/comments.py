"""Comments in pieces of Python."""

from __future__ import annotations

import io
import tokenize
from contextlib import suppress


def count_comments(code: str) -> int:
    """Count the comments in a piece of code, which may be cut anywhere between tokens."""
    count = 0
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(f"({code}").readline):
            count += token.type == tokenize.COMMENT
    return count
