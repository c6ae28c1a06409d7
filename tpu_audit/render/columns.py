"""Aligned columns for lists of thousands of rows, where a table engine would take seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.render.text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

_GAP = "  "


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return header and rows as left-aligned columns; the last one is as long as it likes."""
    table = [[clean(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[index]) for row in table) for index in range(len(header) - 1)]
    return "".join(_line(row, widths) for row in table)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
    return _GAP.join([*padded, row[-1]]).rstrip() + "\n"
