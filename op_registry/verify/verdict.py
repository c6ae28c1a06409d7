"""Where the evidence contradicts the verdict that the dispatcher's table gave."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from op_registry.evidence import Cause
from op_registry.schema import Resolution, Support

if TYPE_CHECKING:
    from collections.abc import Mapping

    from op_registry.evidence import DtypeEvidence
    from op_registry.schema import OpRecord

_AND_YET = "; and yet "
"""Between the builder's reason and what the evidence says against it."""
_CONTRADICTIONS = (
    (Support.REJECTED, Cause.REJECTED, "it refuses"),
    (Support.MISSING, Cause.NOT_IMPLEMENTED, "something without a TPU kernel stops"),
)
_COMPOSITES = (
    Resolution.COMPOSITE_IMPLICIT,
    Resolution.COMPOSITE_EXPLICIT,
    Resolution.COMPOSITE_EXPLICIT_NON_FUNCTIONAL,
)


def judged(record: OpRecord, every: Mapping[str, DtypeEvidence]) -> OpRecord:
    """Return ``record`` with another support where the evidence contradicts the builder's."""
    tried = sum(one.lowered.tried for one in every.values())
    passed = sum(one.lowered.passed for one in every.values())
    said = [s for one in every.values() for s in one.lowered.said]
    if record.support is Support.UNKNOWN and _is_unseen_composite(record):
        words = f"all {tried} samples lower to StableHLO, at {dtypes_in_words(len(every))}"
        return _with(record, Support.NATIVE, words) if 0 < tried == passed else record
    if record.support is Support.NATIVE and said and not passed:
        for support, cause, words in _CONTRADICTIONS:
            if all(s.cause is cause for s in said):
                return _with(record, support, f"{words} all {tried} samples: {said[0].message}")
    return record


def _with(record: OpRecord, support: Support, words: str) -> OpRecord:
    return replace(record, support=support, reason=f"{record.reason}{_AND_YET}{words}")


def as_built(record: OpRecord) -> OpRecord:
    """Return ``record`` with the verdict it had before an earlier verification contradicted it."""
    reason, mark, _ = record.reason.partition(_AND_YET)
    if not mark:
        return record
    before = Support.UNKNOWN if record.support is Support.NATIVE else Support.NATIVE
    return replace(record, support=before, reason=reason)


def _is_unseen_composite(record: OpRecord) -> bool:
    return record.ends_in is None and record.privateuse1 in _COMPOSITES


def dtypes_in_words(count: int) -> str:
    """Return ``1 dtype`` or ``3 dtypes``."""
    return f"{count} dtype" + ("" if count == 1 else "s")
