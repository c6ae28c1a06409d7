"""What verification says of one call: refused, or how far the call's dtype was proven."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from op_registry.evidence import Cause, DtypeEvidence, Refusal, Said, Tally, compute_dtype, of
from op_registry.schema import (
    Evidence,
    EvidenceKind,
    Fallback,
    OpRecord,
    Resolution,
    Snapshot,
    Support,
)
from tpu_audit.audit.arguments import given
from tpu_audit.types.proof import (
    DRAWS,
    REFUSES,
    STRENGTHS,
    never_compiles,
    never_lowers,
    proven,
    syncs,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpu_audit.audit.call import Judgement
    from tpu_audit.types.report import OpRow
    from tpu_audit.types.trace import OpUse

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
    found = [*_proofs(use, record, known, snapshot, dtype, chip), *judgement.evidence]
    if record.random:
        found.append(Evidence(kind=EvidenceKind.REGISTERED, detail=DRAWS))
    ordered = sorted(found, key=lambda item: STRENGTHS.index(item.kind))
    return replace(judgement, evidence=(*ordered, *meaning(record, dtype)))


def _refused(judgement: Judgement, record: OpRecord, said: Said, evidence: Evidence) -> Judgement:
    missing = said.cause is Cause.NOT_IMPLEMENTED
    named = _OPERATOR.search(said.message) if missing else None
    return replace(
        judgement,
        support=Support.MISSING if missing else Support.REJECTED,
        reason=said.message,
        evidence=(evidence, *judgement.evidence),
        fallback=Fallback.CPU_IF_ENABLED if missing and record.cpu_kernel else None,
        culprits=(_overload(named["name"]) if named else record.op,),
    )


def _overload(name: str) -> str:
    """Return the registry's spelling of ``aten::mish``: ``aten.mish.default``."""
    dotted = name.replace("::", ".", 1)
    return dotted if dotted.count(".") > 1 else f"{dotted}.default"


def dtype_of(call: OpUse | OpRow, backend: str) -> str | None:
    """Return the dtype under which evidence of the call is filed, None without tensors.

    Tensors on the host beside others on the device are numbers: they decide no dtype.
    """
    tensors = call.inputs or call.outputs
    there = [t for t in tensors if t.device == backend]
    return compute_dtype(t.dtype for t in there or tensors)


def meaning(record: OpRecord, dtype: str | None) -> tuple[Evidence, ...]:
    """Return the fact that a reference kernel defines the op, with its own check."""
    if record.reference is None:
        return ()
    check = record.reference_checks.get(dtype or "")
    agrees = f" agrees with eager PyTorch in {check} samples at {dtype}" if check else ""
    return (Evidence(kind=EvidenceKind.REFERENCE, detail=f"{record.reference}{agrees}"),)


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


def _proofs(
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
