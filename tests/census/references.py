"""Which reference kernels define the ops that a census meets, and which ops have none."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from op_registry.schema import OpRecord, Snapshot, Support
from tests.census.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.census.outcome import Outcome


def met(outcomes: Iterable[Outcome]) -> Counter[str]:
    """Return op -> calls over all ``outcomes``."""
    found: Counter[str] = Counter()
    for outcome in outcomes:
        found.update(outcome.met)
    return found


def lacking(found: Iterable[str], snapshot: Snapshot) -> dict[str, str]:
    """Return op -> what it lacks, of ops that a reference kernel must define, with a result.

    What draws random numbers has no result to compare.
    """
    lacks = {op: _lacks(record) for op in found if (record := snapshot.get(op)) is not None}
    return {op: why for op, why in sorted(lacks.items()) if why}


def unexplained(found: Iterable[str], snapshot: Snapshot) -> list[str]:
    """Return the ops that lack something although nothing says why they must."""
    return [op for op in lacking(found, snapshot) if not snapshot.ops[op].reference_note]


def _lacks(record: OpRecord) -> str:
    if record.support not in {Support.NATIVE, Support.MISSING}:
        return ""
    if record.reference is None:
        return "no reference kernel" + (
            f": {record.reference_note}" if record.reference_note else ""
        )
    return "" if record.reference_checks or record.random else "no numeric result"


def section(outcomes: Iterable[Outcome], snapshot: Snapshot) -> str:
    """Return the counts in a sentence, and the ops that lack something, the commonest first."""
    found = met(outcomes)
    kinds = Counter(record.support for op in found if (record := snapshot.get(op)) is not None)
    lacks = lacking(found, snapshot)
    rows = [(op, count, lacks[op]) for op, count in found.most_common() if op in lacks]
    return (
        f"{len(found)} op overloads are met: {kinds[Support.NATIVE]} native, "
        f"{kinds[Support.MISSING]} missing; {len(found) - len(lacks)} have a reference kernel "
        "that was compared with eager PyTorch.\n\n"
        + (table(("op", "calls", "lacks"), rows) if rows else "")
    )
