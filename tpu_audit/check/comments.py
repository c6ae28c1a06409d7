"""Finds ``# tpu-audit: ignore[TPA101] reason`` in any format that has comments."""

from __future__ import annotations

import io
import re
import tokenize
from typing import TYPE_CHECKING

from tpu_audit.check.result import Comment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.text import SourceText

_COMMENT = re.compile(
    r"(?P<sign>#|;|//|/\*|\{#)[ \t]*tpu-audit:[ \t]*ignore(?:\[(?P<codes>[^\]\r\n]*)\])?"
    r"[ \t:-]*(?P<reason>[^\r\n]*)"
)
_SIGNS = {"cpp": {"//", "/*"}, "json": {"//", "/*"}, "ini": {"#", ";"}, "yaml": {"#", "{#"}}
"""What begins a comment in a kind of file, where it is not ``#`` alone."""


def find_comments(kind: str, source: SourceText) -> list[Comment]:
    """Return the comments that ask for silence, in order."""
    if "tpu-audit" not in source.text:
        return []
    places = list(_in_python(source) if kind == "python" else _in_text(kind, source))
    return [_comment(source, match, stands_alone=alone) for match, alone in places]


def _in_text(kind: str, source: SourceText) -> Iterator[tuple[re.Match[str], bool]]:
    for match in _COMMENT.finditer(source.text):
        if match.group("sign") not in _SIGNS.get(kind, {"#"}):
            continue
        start = source.text.rfind("\n", 0, match.start()) + 1
        yield match, not source.text[start : match.start()].strip()


def _in_python(source: SourceText) -> Iterator[tuple[re.Match[str], bool]]:
    """Yield real comments only: strings may show how a comment is written."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            if token.type == tokenize.COMMENT and "tpu-audit" in token.string:
                start = source.index(token.start[0], token.start[1] + 1)
                match = _COMMENT.search(source.text, start, start + len(token.string))
                if match:
                    yield match, not token.line[: token.start[1]].strip()
    except (tokenize.TokenError, SyntaxError, IndexError):
        return  # the file is reported as unreadable elsewhere


def _comment(source: SourceText, match: re.Match[str], *, stands_alone: bool) -> Comment:
    line, column = source.position(match.start())
    reason = match.group("reason").removesuffix("*/").removesuffix("#}").strip()
    codes = tuple(filter(None, re.split(r"[,\s]+", match.group("codes") or "")))
    covered = _next_code_line(source, line) if stands_alone else line
    return Comment(
        line=line,
        column=column,
        end_column=column + len(match.group().rstrip()),
        first=line,
        last=covered,
        selectors=codes,
        reason=reason,
    )


def _next_code_line(source: SourceText, line: int) -> int:
    """Return the line that a comment on a line of its own speaks of: over further comments."""
    last = source.position(len(source.text))[0]
    below = line + 1
    while below <= last and source.line(below).lstrip().startswith(("#", "//")):
        below += 1
    return min(below, last)
