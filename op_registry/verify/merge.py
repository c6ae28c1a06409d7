"""Puts evidence into a snapshot: by dtype, as refusals and hazards, and in the ops' verdicts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from op_registry.evidence import Cause, DtypeEvidence, Refusal, Tally, decode, encode, place
from op_registry.schema import Evidence, EvidenceKind, Hazard
from op_registry.verify.refusals import refusals
from op_registry.verify.summary import is_random, summarise
from op_registry.verify.verdict import as_built, dtypes_in_words, judged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from op_registry.schema import OpRecord, Snapshot
    from op_registry.verify.facts import Found


def merge(
    snapshot: Snapshot, found: Mapping[str, Sequence[Found]], versions: Mapping[str, str]
) -> Snapshot:
    """Return ``snapshot`` with what was found of each op; other ops and dtypes stay as they are.

    ``versions`` names the tools that were used (jax, jaxlib, libtpu), for the header.
    """
    ops = dict(snapshot.ops)
    for op, of_op in found.items():
        if op in ops and any(one.samples for one in of_op):
            ops[op] = merge_op(ops[op], of_op)
    return replace(snapshot, ops=ops, versions={**snapshot.versions, **versions}, digest="")


def merge_op(record: OpRecord, found: Sequence[Found]) -> OpRecord:
    """Return ``record`` with the evidence of ``found``, one for each dtype that was looked at."""
    record = as_built(record)
    seen = [one for one in found if one.samples]
    fresh = {one.dtype: encode(summarise(one)) for one in seen}
    stored = {**record.dtypes, **fresh}
    dtypes = {name: stored[name] for name in sorted(stored, key=place)}
    every = {name: decode(raw) for name, raw in dtypes.items()}
    merged = replace(
        record,
        dtypes=dtypes,
        random=is_random(seen) or record.random,
        refusals=_kept(record.refusals, fresh) + refusals(seen),
        hazards=_hazards(record, every),
        evidence=_evidence(record, every),
    )
    return judged(merged, every)


def _kept(old: Iterable[Refusal], fresh: Iterable[str]) -> tuple[Refusal, ...]:
    """Return what earlier verifications found at other dtypes than the ``fresh`` ones."""
    names = set(fresh)
    cut = [(r, tuple(d for d in r.dtypes if d not in names)) for r in old]
    return tuple(replace(refusal, dtypes=dtypes) for refusal, dtypes in cut if dtypes)


def _hazards(record: OpRecord, every: Mapping[str, DtypeEvidence]) -> dict[Hazard, str]:
    hazards = dict(record.hazards)
    said = [s for one in every.values() for s in one.lowered.said if s.cause is Cause.HOST_SYNC]
    if said and Hazard.HOST_SYNC not in hazards:
        syncs = sum(s.samples for s in said)
        always = syncs == sum(one.lowered.tried for one in every.values())
        often = "" if always else " in some samples"
        message = min(s.message for s in said)
        hazards[Hazard.HOST_SYNC] = f"reads a value back from the device{often}: {message}"
    return hazards


def _evidence(record: OpRecord, every: Mapping[str, DtypeEvidence]) -> tuple[Evidence, ...]:
    kept = [one for one in record.evidence if not _OURS.match(one.detail)]
    chips = sorted({chip for one in every.values() for chip in one.compiled})
    entries = [
        _entry(EvidenceKind.LOWERED, "samples", [one.lowered for one in every.values()]),
        *(
            _entry(EvidenceKind.COMPILED, "programs", _for_chip(every.values(), chip), chip)
            for chip in chips
        ),
        _entry(EvidenceKind.NUMERICS, "samples", [one.numerics for one in every.values()]),
    ]
    return (*kept, *(entry for entry in entries if entry is not None))


_VERBS = {
    EvidenceKind.LOWERED: "lowered",
    EvidenceKind.COMPILED: "compiled",
    EvidenceKind.NUMERICS: "agreed with eager PyTorch on XLA:CPU",
}
_OURS = re.compile(r"\d+ of \d+ (samples|programs) at \d+ dtypes? ")
"""Details of the entries that this module writes: a later merge replaces those."""


def _for_chip(every: Iterable[DtypeEvidence], chip: str) -> list[Tally]:
    return [one.compiled[chip] for one in every if chip in one.compiled]


def _entry(
    kind: EvidenceKind, what: str, tallies: Iterable[Tally], chip: str | None = None
) -> Evidence | None:
    tried = [tally for tally in tallies if tally.tried]
    if not tried:
        return None
    passed, total = sum(t.passed for t in tried), sum(t.tried for t in tried)
    words = f"{passed} of {total} {what} at {dtypes_in_words(len(tried))} {_VERBS[kind]}"
    return Evidence(kind=kind, detail=words, chip=chip)
