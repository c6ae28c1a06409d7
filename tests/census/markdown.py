"""Markdown for reports: tables whose cells cannot break them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SHORT = 160


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; integer columns are aligned to the right."""
    listed = [list(row) for row in rows]
    right = [
        bool(listed) and all(isinstance(row[i], int) or row[i] is None for row in listed)
        for i in range(len(header))
    ]
    lines = [_line(header), _line(["--:" if is_right else "---" for is_right in right])]
    return "\n".join([*lines, *(_line([cell(value) for value in row]) for row in listed)]) + "\n"


def cell(value: object) -> str:
    """Return one cell's text: on one line, no bars, numbers with thousands separated."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    text = "".join(c if c.isprintable() else " " for c in " ".join(str(value).split()))
    text = text if len(text) <= _SHORT else text[: _SHORT - 3] + "..."
    return text.replace("|", "\\|")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
