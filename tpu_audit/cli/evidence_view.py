"""What verification showed of an op, for people and for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from op_registry.evidence import DTYPES, Tally, of
from op_registry.toolchain.chips import CHIPS
from tpu_audit.types.proof import strongest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from op_registry.evidence import DtypeEvidence
    from op_registry.schema import OpRecord

Row = tuple[str, ...]


def as_json(record: OpRecord) -> dict[str, Any]:
    """Return dtype -> evidence: the steps with ``passed``, ``tried`` and what the others ``said``.

    ``strongest`` is the strongest proof at that dtype, null where the op is missing or refused.
    """
    return {
        dtype: {
            "strongest": strongest(record, dtype),
            "lowered": known.lowered,
            "compiled": known.compiled,
            "emulated": known.emulated,
            "numerics": known.numerics,
            "gradient": known.gradient,
            "notes": known.notes,
        }
        for dtype, known in known_dtypes(record).items()
    }


def known_dtypes(record: OpRecord) -> dict[str, DtypeEvidence]:
    """Return the evidence by dtype, in the order in which dtypes are shown."""
    order = [*DTYPES, *sorted(record.dtypes.keys() - set(DTYPES))]
    return {dtype: known for dtype in order if (known := of(record, dtype))}


def table(record: OpRecord) -> tuple[Row, list[Row]] | None:
    """Return header and rows, one a dtype: how many samples passed of those that tried each step.

    None when nothing is known beyond the dispatch table.
    """
    known = known_dtypes(record)
    if not known:
        return None
    chips = [chip for chip in CHIPS if any(chip in found.compiled for found in known.values())]
    header = ("dtype", "lowered", *chips, "numerics", "gradient", "emulates")
    rows = [
        (
            dtype,
            _count(found.lowered),
            *(_count(found.compiled.get(chip)) for chip in chips),
            _count(found.numerics),
            _count(found.gradient),
            _emulated(found.emulated) or "-",
        )
        for dtype, found in known.items()
    ]
    return header, rows


def messages(record: OpRecord) -> list[tuple[str, str]]:
    """Return what the samples met that did not pass, one paragraph a dtype, step and message."""
    return [
        (dtype, f"{step}: {said.cause} in {said.samples} of {tally.tried}: {said.message}")
        for dtype, found in known_dtypes(record).items()
        for step, tally in _steps(found)
        for said in tally.said
    ] + [(dtype, note) for dtype, found in known_dtypes(record).items() for note in found.notes]


def refusals(record: OpRecord) -> Iterator[str]:
    """Yield a sentence for each kind of call that the kernel refuses."""
    for refusal in record.refusals:
        arguments = ", ".join(f"{name}={value}" for name, value in sorted(refusal.when.items()))
        yield f"{arguments or 'any call'} at {', '.join(refusal.dtypes)}: {refusal.message}"


def reference(record: OpRecord) -> str:
    """Return the reference kernel with its check, or why there is none; empty: nobody says."""
    if record.reference is None:
        return f"none: {record.reference_note}" if record.reference_note else ""
    checks = ", ".join(f"{dtype} {check}" for dtype, check in record.reference_checks.items())
    agrees = f"; agrees with eager PyTorch: {checks}" if checks else "; not checked"
    note = f"; {record.reference_note}" if record.reference_note else ""
    return f"{record.reference}{agrees}{note}"


def _steps(found: DtypeEvidence) -> Iterator[tuple[str, Tally]]:
    yield "lowered", found.lowered
    for chip, tally in found.compiled.items():
        yield f"compiled for {chip}", tally
    yield "numerics", found.numerics
    yield "gradient", found.gradient


def _count(tally: Tally | None) -> str:
    return f"{tally.passed}/{tally.tried}" if tally and tally.tried else "-"


def _emulated(emulated: Mapping[str, str]) -> str:
    words: dict[str, list[str]] = {}
    for chip, text in emulated.items():
        words.setdefault(text, []).append(chip)
    return "; ".join(f"{text} on {', '.join(chips)}" for text, chips in words.items())
