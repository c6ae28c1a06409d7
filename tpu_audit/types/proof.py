"""How strong the evidence is: of an op at a dtype, and of a judged call."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from op_registry.evidence import Cause, DtypeEvidence, Said, Tally, of
from op_registry.schema import EvidenceKind, OpRecord, Support

if TYPE_CHECKING:
    from tpu_audit.types.report import OpRow

STRENGTHS = (
    EvidenceKind.NUMERICS,
    EvidenceKind.COMPILED,
    EvidenceKind.LOWERED,
    EvidenceKind.REGISTERED,
)
"""How a kernel of the backend is proven, strongest first.

``reference`` is not among them: a reference kernel says what an op means, not that the backend's
kernel does it.
"""
DRAWS = "draws random numbers: cannot be lowered without a device"
"""Why an op that is random is registered and no more."""


class Standing(StrEnum):
    """How an op with a kernel of the backend stands at one dtype."""

    NUMERICS = "numerics"
    COMPILED = "compiled"
    LOWERED = "lowered"
    REGISTERED = "registered"
    """Tried, and nothing proven: only the dispatch table speaks for it."""
    REFUSED = "refused"
    UNTRIED = "untried"


REFUSES = frozenset({Cause.REJECTED, Cause.NOT_IMPLEMENTED})
"""Causes for which a call can never run."""
DISAGREES = frozenset({Cause.VALUES, Cause.DTYPE, Cause.SHAPE})
"""Causes for which a kernel ran and gave something else than eager PyTorch."""


def proven(known: DtypeEvidence, chip: str | None = None) -> EvidenceKind:
    """Return the strongest step that some sample passed; ``registered`` when none did.

    ``chip`` is the generation whose compiler counts, None for any of them. A kernel that was
    entered and asked for a value of the device counts as lowered: that is how it is known to sync.
    """
    if known.numerics.passed:
        return EvidenceKind.NUMERICS
    if any(tally.passed for name, tally in known.compiled.items() if chip in {None, name}):
        return EvidenceKind.COMPILED
    if known.lowered.passed or syncs(known):
        return EvidenceKind.LOWERED
    return EvidenceKind.REGISTERED


def syncs(known: DtypeEvidence) -> bool:
    """Whether no sample lowered, and each for want of a value that only a device holds."""
    return _nothing_but(known.lowered, frozenset({Cause.HOST_SYNC}))


def never_lowers(known: DtypeEvidence) -> Said | None:
    """Return the commonest message when each sample's kernel refused or was missing, else None."""
    return commonest(known.lowered) if _nothing_but(known.lowered, REFUSES) else None


def never_compiles(known: DtypeEvidence, chip: str) -> Said | None:
    """Return the commonest message when the compiler for ``chip`` refused each program."""
    tally = known.compiled.get(chip)
    return commonest(tally) if tally and _nothing_but(tally, REFUSES) else None


def disagreement(known: DtypeEvidence) -> Said | None:
    """Return the commonest way in which results differ from eager PyTorch's, None when none do."""
    found = [said for said in known.numerics.said if said.cause in DISAGREES]
    return max(found, key=lambda said: said.samples, default=None)


def commonest(tally: Tally) -> Said:
    """Return the message that most samples met; the tally must hold one."""
    return max(tally.said, key=lambda said: said.samples)


def _nothing_but(tally: Tally, causes: frozenset[Cause]) -> bool:
    met = {said.cause for said in tally.said}
    return tally.tried > 0 and not tally.passed and bool(met) and met <= causes


def refused(record: OpRecord, dtype: str, known: DtypeEvidence | None) -> Said | None:
    """Return why no call at ``dtype`` runs on any chip, or None: some may.

    Refused by the kernel in every sample, or by the compiler of every chip that was asked.
    """
    for refusal in record.refusals:
        if not refusal.when and dtype in refusal.dtypes and refusal.cause in REFUSES:
            return Said(cause=refusal.cause, message=refusal.message, samples=0)
    if known is None:
        return None
    if said := never_lowers(known):
        return said
    answers = [never_compiles(known, chip) for chip in known.compiled]
    return answers[0] if answers and all(answers) else None


def strongest(record: OpRecord, dtype: str | None = None) -> EvidenceKind | None:
    """Return the strongest proof that ``record``'s kernel works, None when nothing speaks for it.

    At ``dtype``, or at whichever dtype it is best proven. None: missing, undecided, or refused.
    """
    if record.support is not Support.NATIVE:
        return None
    found = {standing(record, name) for name in (record.dtypes if dtype is None else [dtype])}
    if found <= {Standing.UNTRIED}:
        return EvidenceKind.REGISTERED
    return next((kind for kind in STRENGTHS if kind.value in found), None)


def standing(record: OpRecord, dtype: str) -> Standing:
    """Return how ``record``, an op with a kernel, stands at ``dtype``."""
    known = of(record, dtype)
    if refused(record, dtype, known):
        return Standing.REFUSED
    return Standing(proven(known)) if known else Standing.UNTRIED


def evidence_kind(row: OpRow) -> EvidenceKind | None:
    """Return the strongest kind of evidence behind a judged call, None when it has none."""
    kinds = {item.kind for item in row.evidence}
    return next((kind for kind in (*STRENGTHS, EvidenceKind.REFERENCE) if kind in kinds), None)


def rests_on_registration(row: OpRow) -> bool:
    """Whether nothing but the dispatch table speaks for the call, random numbers apart."""
    return not row.random and evidence_kind(row) is EvidenceKind.REGISTERED


def draws_unproven(row: OpRow) -> bool:
    """Whether nothing more can speak for the call on a host without a TPU.

    It draws random numbers. An op that may, and lowered in some sample, is proven by that.
    """
    return row.random and evidence_kind(row) is EvidenceKind.REGISTERED
