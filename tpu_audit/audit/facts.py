"""What verification shows of a call: how far its dtype is proven, and what the op means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from op_registry.evidence import DtypeEvidence, Tally, of
from op_registry.schema import Evidence, EvidenceKind, OpRecord, Resolution, Snapshot
from tpu_audit.types.proof import STRENGTHS, proven, syncs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpu_audit.types.trace import OpUse


def meaning(record: OpRecord, dtype: str | None) -> tuple[Evidence, ...]:
    """Return the fact that a reference kernel defines the op, with its own check."""
    if record.reference is None:
        return ()
    check = record.reference_checks.get(dtype or "")
    agrees = f" agrees with eager PyTorch in {check} samples at {dtype}" if check else ""
    return (Evidence(kind=EvidenceKind.REFERENCE, detail=f"{record.reference}{agrees}"),)


def proofs(
    use: OpUse,
    record: OpRecord,
    known: DtypeEvidence | None,
    snapshot: Snapshot,
    dtype: str | None,
    chip: str,
) -> Sequence[Evidence]:
    """Return what is known beyond the dispatch table: of the op, else of the ops it ends in."""
    if known and dtype:
        return _facts(known, dtype, chip)
    if record.privateuse1 is Resolution.KERNEL:
        return ()
    pieces = use.ends_in or record.ends_in
    return _through(pieces, snapshot, dtype, chip) if pieces and dtype else ()


def _facts(known: DtypeEvidence, dtype: str, chip: str) -> list[Evidence]:
    found = []
    if known.numerics.passed:
        detail = f"{_count(known.numerics)} samples at {dtype} agree with eager PyTorch"
        found.append(Evidence(kind=EvidenceKind.NUMERICS, detail=detail))
    if (compiled := known.compiled.get(chip)) and compiled.passed:
        detail = f"{_count(compiled)} programs at {dtype}"
        found.append(Evidence(kind=EvidenceKind.COMPILED, detail=detail, chip=chip))
    if known.lowered.passed:
        detail = f"{_count(known.lowered)} samples at {dtype}"
        found.append(Evidence(kind=EvidenceKind.LOWERED, detail=detail))
    elif known.lowered.tried:
        found.append(_not_lowered(known, dtype))
    return found


def _not_lowered(known: DtypeEvidence, dtype: str) -> Evidence:
    """Say why no sample lowered; only a host read says anything of the kernel."""
    kind = EvidenceKind.LOWERED if syncs(known) else EvidenceKind.REGISTERED
    causes = "; ".join(f"{said.cause}: {said.message}" for said in known.lowered.said)
    detail = f"{_count(known.lowered)} samples at {dtype} lowered ({causes})"
    return Evidence(kind=kind, detail=detail)


def _count(tally: Tally) -> str:
    return f"{tally.passed}/{tally.tried}"


def _through(
    pieces: Sequence[str], snapshot: Snapshot, dtype: str, chip: str
) -> tuple[Evidence, ...]:
    """Return how far each of ``pieces`` is proven at ``dtype``: as far as the weakest."""
    kinds = []
    for op in pieces:
        record = snapshot.get(op)
        known = of(record, dtype) if record else None
        kinds.append(proven(known, chip) if known else EvidenceKind.REGISTERED)
    weakest = max(kinds, key=STRENGTHS.index)
    if weakest is EvidenceKind.REGISTERED:
        return ()
    on = chip if EvidenceKind.COMPILED in kinds else None
    detail = f"by {', '.join(pieces)}, which it ends in, each at {dtype}"
    return (Evidence(kind=weakest, detail=detail, chip=on),)
