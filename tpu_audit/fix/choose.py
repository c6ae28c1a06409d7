"""Which repairs go together in one pass: all edits of a repair or none, and no overlaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Fix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tpu_audit.rules.edits import Edit


@dataclass(frozen=True, kw_only=True, slots=True)
class Repair:
    """A repair with the rule that asks for it."""

    code: str
    fix: Fix


def compatible(repairs: Iterable[Repair]) -> list[Repair]:
    """Return the repairs that can be made at once, the first in the file winning.

    What overlaps them is found again in the next pass, if it is still there.
    """
    taken: list[Edit] = []
    chosen = []
    for repair in sorted(repairs, key=_order):
        edits = repair.fix.edits
        if edits and not any(_clash(edit, other) for edit in edits for other in taken[-_NEAR:]):
            taken += edits
            taken.sort(key=lambda edit: edit.start)
            chosen.append(repair)
    return chosen


_NEAR = 200
"""Edits that are compared with: repairs come in order of place, and reach a few lines."""


def _order(repair: Repair) -> tuple[int, int, str]:
    starts = [edit.start for edit in repair.fix.edits] or [0]
    ends = [edit.end for edit in repair.fix.edits] or [0]
    return min(starts), max(ends), repair.code


def _clash(one: Edit, other: Edit) -> bool:
    """Tell edits that overlap, or that insert at the same place."""
    if one.start == other.start:
        return True
    return one.start < other.end and other.start < one.end
