"""What stands in the matrix for one op: a mark a dtype, and the messages behind them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from op_registry.evidence import DTYPES, of
from op_registry.schema import Support
from tpu_audit.render import evidence
from tpu_audit.types.proof import DRAWS, Standing, disagreement, refused, standing, syncs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from op_registry.evidence import DtypeEvidence, Tally
    from op_registry.schema import OpRecord, Snapshot


class Mark(StrEnum):
    """How an op stands at a dtype, best first; the value is the short word in the cell."""

    NUMERICS = "num"
    COMPILED = "comp"
    LOWERED = "low"
    SYNC = "sync"
    REGISTERED = "reg"
    RANDOM = "rng"
    REFERENCE = "ref"
    REFUSED = "no"
    UNTRIED = "-"


MEANINGS = {
    Mark.NUMERICS: "numerics: the results agree with eager PyTorch",
    Mark.COMPILED: "compiled: libtpu compiles it for a TPU",
    Mark.LOWERED: "lowered: the kernel builds StableHLO",
    Mark.SYNC: "the kernel reads a value back to the host, so that it cannot be lowered",
    Mark.REGISTERED: "registered: tried, and nothing beyond the dispatch table is proven",
    Mark.RANDOM: "registered, and draws random numbers: no more can be shown without a device",
    Mark.REFERENCE: "no TPU kernel; a reference kernel agrees with eager PyTorch",
    Mark.REFUSED: "refused: by the kernel, or by the compiler for every TPU asked",
    Mark.UNTRIED: "not tried at this dtype",
}
EMULATED = "+e"
"""Added to the mark of an op that the compiled program emulates."""
DIFFERS = "!"
"""Added to the mark of an op whose results differ from eager PyTorch's."""
ADDED = {
    EMULATED: "emulated: the compiled program builds it out of narrower arithmetic",
    DIFFERS: "disagrees with eager PyTorch in some sample",
}
_STANDINGS = {stand: Mark[stand.name] for stand in Standing}


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One op at one dtype."""

    mark: Mark
    added: str = ""
    """``EMULATED`` and ``DIFFERS``, where they hold."""
    counts: str = ""
    """Samples that passed of those that tried, step by step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One op."""

    op: str
    support: Support
    cells: tuple[Cell, ...]
    """One a dtype of ``op_registry.evidence.DTYPES``."""
    reference: str
    """The reference kernel's import path; empty without one."""
    checks: str
    """Dtypes at which it agrees with eager PyTorch, with how many samples."""
    details: tuple[str, ...]
    """Sentences: random numbers, hazards, refusals, messages by dtype."""


def rows(snapshot: Snapshot) -> list[Row]:
    """Return the native ops and the missing ones that have a reference kernel, by name."""
    return [_row(record) for _, record in sorted(snapshot.ops.items()) if _shown(record)]


def _shown(record: OpRecord) -> bool:
    missing = record.support is Support.MISSING and record.reference is not None
    return record.support is Support.NATIVE or missing


def _row(record: OpRecord) -> Row:
    checks = record.reference_checks.items()
    return Row(
        op=record.op,
        support=record.support,
        cells=tuple(cell(record, dtype) for dtype in DTYPES),
        reference=record.reference or "",
        checks=", ".join(f"{dtype} {count}" for dtype, count in checks),
        details=tuple(_details(record)),
    )


def cell(record: OpRecord, dtype: str) -> Cell:
    """Return what the matrix shows of ``record`` at ``dtype``."""
    if record.support is not Support.NATIVE:
        check = record.reference_checks.get(dtype, "")
        agrees = check and not check.startswith("0/")
        return Cell(mark=Mark.REFERENCE if agrees else Mark.UNTRIED, counts=check)
    known = of(record, dtype)
    mark = _STANDINGS[standing(record, dtype)]
    if record.random and mark in {Mark.REGISTERED, Mark.UNTRIED}:
        mark = Mark.RANDOM
    if known is None:
        return Cell(mark=mark)
    differs = DIFFERS if disagreement(known) else ""
    return Cell(
        mark=Mark.SYNC if mark is Mark.LOWERED and syncs(known) else mark,
        added=(EMULATED if known.emulated else "") + differs,
        counts=_counts(known),
    )


def _counts(known: DtypeEvidence) -> str:
    """Return ``lowered 8/8; compiled v5e 1/1, v6e 2/2; numerics 3/3; emulates f64 on v6e``."""
    chips = evidence.in_order(known.compiled)
    compiled = ", ".join(f"{chip} {_share(known.compiled[chip])}" for chip in chips)
    parts = (
        ("lowered", _share(known.lowered)),
        ("compiled", compiled),
        ("numerics", _share(known.numerics)),
        ("gradient", _share(known.gradient)),
        ("emulates", evidence.emulated(known.emulated)),
    )
    return "; ".join(f"{name} {text}" for name, text in parts if text)


def _share(tally: Tally) -> str:
    return f"{tally.passed}/{tally.tried}" if tally.tried else ""


def _details(record: OpRecord) -> Iterable[str]:
    if record.random:
        yield DRAWS
    yield from (f"{hazard}: {why}" for hazard, why in record.hazards.items())
    yield from (f"refuses {evidence.refusal(found)}" for found in record.refusals if found.when)
    if record.reference_note:
        yield f"reference: {record.reference_note}"
    yield from _messages(record)


def _messages(record: OpRecord) -> Iterable[str]:
    """Yield each message once, with the dtypes and the step that met it."""
    met: dict[tuple[str, str], list[str]] = {}
    for dtype, known in evidence.known_dtypes(record).items():
        for step, tally in evidence.steps(known):
            for said in tally.said:
                met.setdefault((step, f"{said.cause}: {said.message}"), []).append(dtype)
    for (step, message), dtypes in met.items():
        yield f"{', '.join(dtypes)} {step}, {message}"


def refused_calls(record: OpRecord) -> Iterable[str]:
    """Yield a sentence for each message with which calls are refused: whole dtypes first."""
    met: dict[str, list[str]] = {}
    for dtype in DTYPES:
        if said := refused(record, dtype, of(record, dtype)):
            met.setdefault(said.message, []).append(dtype)
    yield from (f"any call at {', '.join(dtypes)}: {text}" for text, dtypes in met.items())
    yield from (evidence.refusal(found) for found in record.refusals if found.when)
