"""What verification says of one call: refused, or how far the call's dtype was proven."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from op_registry.evidence import Cause, DtypeEvidence, Refusal, Said, compute_dtype, of
from op_registry.schema import (
    Evidence,
    EvidenceKind,
    Fallback,
    OpRecord,
    Snapshot,
    Support,
)
from tpu_audit.audit.arguments import given
from tpu_audit.audit.facts import meaning, proofs
from tpu_audit.types.proof import (
    DRAWS,
    REFUSES,
    STRENGTHS,
    never_compiles,
    never_lowers,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tpu_audit.audit.call import Judgement
    from tpu_audit.types.report import OpRow
    from tpu_audit.types.trace import OpUse

_ORDER = (*STRENGTHS, EvidenceKind.REFERENCE)
_OPERATOR = re.compile(r"operator '(?P<name>\w+::[\w.]+)' is not implemented")
# Whole families that a backend may not even hold in a tensor: a kernel's existence is no evidence
# for these.
_UNPROVEN_DTYPE = re.compile(r"complex32|quint\d.*|qint\d+|bits\d.*|u?int[1-7]")


def weigh(
    judgement: Judgement, use: OpUse, record: OpRecord, snapshot: Snapshot, chip: str
) -> Judgement:
    """Return ``judgement``, native by registration, as verification leaves it.

    Rejected or missing when the kernel, or the compiler for ``chip``, refuses the call or its
    dtype; unknown for dtypes that a device may not hold and nobody tried; else native with all
    that was proven, the strongest first.
    """
    dtype = dtype_of(use, snapshot.backend)
    known = of(record, dtype) if dtype else None
    judgement = replace(judgement, dtype=dtype, known=known)
    refusal = _refusal(use, record, dtype) or (known and _at_dtype(known, dtype or "", chip))
    if refusal:
        return _refused(judgement, record, *refusal)
    names = {t.dtype for t in (*use.inputs, *use.outputs) if _UNPROVEN_DTYPE.fullmatch(t.dtype)}
    if names and not (known and names == {dtype}):
        reason = f"a kernel exists, but nothing shows that it takes {', '.join(sorted(names))}"
        return replace(
            judgement, support=Support.UNKNOWN, reason=reason, evidence=(), culprits=(use.op,)
        )
    found = [
        *proofs(use, record, known, snapshot, dtype, chip),
        *_of_any_dtype(judgement.evidence, record),
    ]
    ordered = sorted(found, key=lambda item: _ORDER.index(item.kind))
    if record.random and all(item.kind is EvidenceKind.REGISTERED for item in ordered):
        ordered.append(Evidence(kind=EvidenceKind.REGISTERED, detail=DRAWS))
    return replace(judgement, evidence=(*ordered, *meaning(record, dtype)))


def _of_any_dtype(evidence: Iterable[Evidence], record: OpRecord) -> list[Evidence]:
    """Return what holds at each dtype: sums over all dtypes prove nothing of the call's."""
    verified = bool(record.dtypes)
    return [e for e in evidence if e.kind is EvidenceKind.REGISTERED or not verified]


def _refused(judgement: Judgement, record: OpRecord, said: Said, evidence: Evidence) -> Judgement:
    missing = said.cause is Cause.NOT_IMPLEMENTED
    named = named_operator(said.message) if missing else None
    return replace(
        judgement,
        support=Support.MISSING if missing else Support.REJECTED,
        reason=said.message,
        evidence=(evidence, *judgement.evidence),
        fallback=Fallback.CPU_IF_ENABLED if missing and record.cpu_kernel else None,
        culprits=(named or record.op,),
    )


def named_operator(message: str) -> str | None:
    """Return the overload that the wheel's error names, ``aten.mish.out``; None without one."""
    named = _OPERATOR.search(message)
    if named is None:
        return None
    dotted = named["name"].replace("::", ".", 1)
    return dotted if dotted.count(".") > 1 else f"{dotted}.default"


def dtype_of(call: OpUse | OpRow, backend: str) -> str | None:
    """Return the dtype under which evidence of the call is filed, None without tensors.

    Tensors on the host beside others on the device are numbers: they decide no dtype.
    """
    tensors = call.inputs or call.outputs
    there = [t for t in tensors if t.device == backend]
    return compute_dtype(t.dtype for t in there or tensors)


def _refusal(use: OpUse, record: OpRecord, dtype: str | None) -> tuple[Said, Evidence] | None:
    """Return the refusal of the call's very arguments."""
    for refusal in record.refusals:
        if (
            refusal.cause in REFUSES
            and dtype in refusal.dtypes
            and given(use.args, refusal.when, record.schema)
        ):
            said = Said(cause=refusal.cause, message=refusal.message, samples=0)
            detail = f"refuses {_words(refusal, dtype or '')}: {refusal.message}"
            return said, Evidence(kind=EvidenceKind.LOWERED, detail=detail)
    return None


def _words(refusal: Refusal, dtype: str) -> str:
    arguments = ", ".join(f"{name}={value}" for name, value in sorted(refusal.when.items()))
    return f"{arguments} at {dtype}" if arguments else dtype


def _at_dtype(known: DtypeEvidence, dtype: str, chip: str) -> tuple[Said, Evidence] | None:
    """Return the refusal of all samples at the call's dtype."""
    if said := never_lowers(known):
        detail = f"none of {known.lowered.tried} samples at {dtype} lowered: {said.message}"
        return said, Evidence(kind=EvidenceKind.LOWERED, detail=detail)
    if said := never_compiles(known, chip):
        tried = known.compiled[chip].tried
        detail = f"none of {tried} programs at {dtype} compiled: {said.message}"
        return said, Evidence(kind=EvidenceKind.COMPILED, detail=detail, chip=chip)
    return None
