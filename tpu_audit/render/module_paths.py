"""Module paths of repeated layers folded into one: ``encoder.layer.[0-11].attention``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def collapse(paths: Iterable[str]) -> tuple[str, ...]:
    """Fold paths that differ in one layer number; the order of first appearance is kept."""
    rows = list(dict.fromkeys(tuple(path.split(".")) for path in paths))
    depth = max((len(row) for row in rows), default=0)
    for position in reversed(range(depth)):
        rows = _fold(rows, position)
    return tuple(".".join(row) for row in rows)


def _fold(rows: list[tuple[str, ...]], position: int) -> list[tuple[str, ...]]:
    """Merge the rows that are equal but for a number at ``position``."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        if position < len(row) and row[position].isdecimal():
            key = (*row[:position], "", *row[position + 1 :])
            groups.setdefault(key, []).append(int(row[position]))
        else:
            groups[row] = []
    return [
        (*key[:position], ranges(numbers), *key[position + 1 :]) if numbers else key
        for key, numbers in groups.items()
    ]


def ranges(numbers: Iterable[int]) -> str:
    """Return ``7`` for one number, else its ranges in brackets: ``[0-11]``, ``[0,2,5-7]``."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    if len(spans) == 1 and spans[0][0] == spans[0][1]:
        return str(spans[0][0])
    return f"[{','.join(str(a) if a == b else f'{a}-{b}' for a, b in spans)}]"
