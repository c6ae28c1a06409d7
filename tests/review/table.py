"""The reviewed tables: findings over public packages, each with a verdict and its reason."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

TABLES = Path(__file__).parents[1] / "data" / "review"
"""One ``<severity>s.jsonl`` a severity."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One finding and what a reader of its source thinks of it."""

    package: str
    """Name on PyPI."""
    version: str
    path: str
    """Below the package's folder, with ``/``."""
    line: int
    """From 1."""
    code: str
    severity: str
    source: str
    """The line itself, stripped."""
    message: str = ""
    verdict: str = ""
    """``right`` or ``wrong``; empty before the review."""
    reason: str = ""
    """Why, in one sentence."""


def read(path: Path) -> list[Row]:
    """Read a table; a row with a key that `Row` has not, or without one it needs, is an error."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Row(**json.loads(line)) for line in lines]


def text(rows: Iterable[Row]) -> str:
    """Return the rows as JSON lines, keys in the order of the fields."""
    return "".join(json.dumps(_record(row), ensure_ascii=False) + "\n" for row in rows)


def _record(row: Row) -> dict[str, object]:
    return {field.name: getattr(row, field.name) for field in fields(Row)}
