"""Whether a call runs: the registry's answer, refined by what the trace saw inside composites."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from op_registry.schema import (
    EndsIn,
    Evidence,
    EvidenceKind,
    Fallback,
    OpRecord,
    Resolution,
    Snapshot,
    Support,
)
from tpu_audit.audit.call import Judgement, Platform
from tpu_audit.audit.reference import as_installed
from tpu_audit.audit.weigh import dtype_of, named_operator, weigh

if TYPE_CHECKING:
    from tpu_audit.types.trace import OpUse

DEFAULT = Platform()
_OWN_KERNEL = frozenset({Resolution.KERNEL, Resolution.FALLBACK, Resolution.NONE})


def judge(use: OpUse, snapshot: Snapshot, platform: Platform = DEFAULT) -> Judgement:
    """Return the support of one distinct call on ``platform`` with reason and evidence.

    A composite is judged by the ops that the trace saw it end in with these very tensors, where
    the trace looked and the registry has no better (its own samples are of other tensors).
    A kernel is native as far as verification does not refuse the call's dtype or arguments.
    An overload the registry does not hold is ``unknown``.
    """
    record = snapshot.get(use.op)
    if record is None:
        return _installed(_absent(use.op, snapshot), use, snapshot, platform)
    judgement = _by_pieces(use, record, snapshot) or _by_record(record, snapshot)
    if judgement.support is Support.NATIVE:
        judgement = weigh(judgement, use, record, snapshot, platform.chip)
    if judgement.support is Support.MISSING:
        return _installed(judgement, use, snapshot, platform)
    return judgement


def _installed(
    judgement: Judgement, use: OpUse, snapshot: Snapshot, platform: Platform
) -> Judgement:
    """Return the judgement of an op without a kernel as it is on ``platform``."""
    if not platform.reference_kernels:
        return judgement
    return as_installed(replace(judgement, dtype=dtype_of(use, snapshot.backend)), use.op, snapshot)


def _absent(op: str, snapshot: Snapshot) -> Judgement:
    namespace = op.partition(".")[0] + "."
    what = f"{snapshot.package} {snapshot.version} with torch {snapshot.torch}"
    known = any(name.startswith(namespace) for name in snapshot.ops)
    reason = (
        f"the registry of {what} has no such overload"
        if known
        else f"the registry of {what} holds no op of the namespace `{namespace[:-1]}`: "
        "it comes from another library"
    )
    return Judgement(support=Support.UNKNOWN, reason=reason, culprits=(op,))


def _by_record(record: OpRecord, snapshot: Snapshot) -> Judgement:
    return Judgement(
        support=record.support,
        reason=record.reason,
        evidence=record.evidence,
        fallback=record.fallback,
        culprits=_culprits(record, snapshot) if record.support is not Support.NATIVE else (),
    )


def _culprits(record: OpRecord, snapshot: Snapshot) -> tuple[str, ...]:
    """Return the pieces of a composite that share its support, or what the error names."""
    pieces = [p for op in record.ends_in or () if (p := snapshot.get(op))]
    return tuple(p.op for p in pieces if p.support is record.support) or (
        named_operator(record.reason) or record.op,
    )


def _by_pieces(use: OpUse, record: OpRecord, snapshot: Snapshot) -> Judgement | None:
    """Judge a composite by ``use.ends_in``; None where the registry's own word is better."""
    undecided = record.support is Support.UNKNOWN or record.ends_in_how is EndsIn.OBSERVED
    if use.ends_in is None or record.privateuse1 in _OWN_KERNEL or not undecided:
        return None
    if not use.ends_in:
        return _pieces_native(record, "calls no further op with these tensors")
    support = {op: piece.support if (piece := snapshot.get(op)) else None for op in use.ends_in}
    for wanted in (Support.MISSING, Support.REJECTED):
        if culprits := tuple(op for op, found in support.items() if found is wanted):
            return _pieces_fail(record, wanted, culprits, snapshot)
    if culprits := tuple(op for op, found in support.items() if found is not Support.NATIVE):
        reason = f"a composite; the trace saw it end in {', '.join(culprits)}, not decided"
        return Judgement(support=Support.UNKNOWN, reason=reason, culprits=culprits)
    return _pieces_native(record, f"ended in {', '.join(use.ends_in)}, all with TPU kernels")


def _pieces_native(record: OpRecord, seen: str) -> Judgement:
    evidence = Evidence(
        kind=EvidenceKind.REGISTERED,
        detail=f"{record.privateuse1} at PrivateUse1; in this trace it {seen}",
    )
    reason = f"a composite; in this trace it {seen}"
    return Judgement(support=Support.NATIVE, reason=reason, evidence=(evidence, *record.evidence))


def _pieces_fail(
    record: OpRecord, support: Support, culprits: tuple[str, ...], snapshot: Snapshot
) -> Judgement:
    pieces = [piece for op in culprits if (piece := snapshot.get(op))]
    cpu = all(piece.fallback is Fallback.CPU_IF_ENABLED for piece in pieces)
    fallback = Fallback.CPU_IF_ENABLED if cpu else Fallback.NEVER
    at_key = f"{record.privateuse1} at PrivateUse1"
    detail = f"{at_key}; in this trace it ended in {', '.join(culprits)}"
    evidence = Evidence(kind=EvidenceKind.REGISTERED, detail=detail)
    return Judgement(
        support=support,
        reason=f"a composite; in this trace it ended in {', '.join(culprits)}: {pieces[0].reason}",
        evidence=(evidence, *(e for piece in pieces for e in piece.evidence)),
        fallback=fallback if support is Support.MISSING else None,
        culprits=culprits,
    )
