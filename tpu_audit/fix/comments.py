"""Takes away ignore comments that silence nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.check.own_rules import UNUSED_IGNORE
from tpu_audit.fix.choose import Repair
from tpu_audit.rules.edits import Applicability, Edit, Fix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tpu_audit.check.result import Item
    from tpu_audit.rules.text import SourceText


def unused_comments(source: SourceText, items: Iterable[Item]) -> list[Repair]:
    """Return the repairs of those ``items`` that are unused comments."""
    return [
        Repair(code=item.code, fix=_removal(source, item))
        for item in items
        if item.code == UNUSED_IGNORE.code and item.fixable
    ]


def _removal(source: SourceText, item: Item) -> Fix:
    start, end = source.index(item.line, item.column), source.index(item.line, item.end_column)
    text = source.text
    while start and text[start - 1] in " \t":
        start -= 1
    stands_alone = start == 0 or text[start - 1] in "\r\n"
    if stands_alone:  # the line goes with it
        end += 2 if text.startswith("\r\n", end) else 1
    low, high = source.byte_range(source.span(start, min(end, len(text))))
    edit = Edit(start=low, end=high, text="")
    return Fix(edits=(edit,), applicability=Applicability.SAFE)
