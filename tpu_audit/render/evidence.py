"""What verification showed of an op, for people and for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from op_registry.evidence import DTYPES, Tally, of
from tpu_audit.types.proof import strongest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from op_registry.evidence import DtypeEvidence, Refusal
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
    chips = in_order({chip for found in known.values() for chip in found.compiled})
    header = ("dtype", "lowered", *chips, "numerics", "gradient")
    rows = [
        (
            dtype,
            _count(found.lowered),
            *(_count(found.compiled.get(chip)) for chip in chips),
            _count(found.numerics),
            _count(found.gradient),
        )
        for dtype, found in known.items()
    ]
    return header, rows


def emulations(record: OpRecord) -> list[tuple[str, str]]:
    """Return what the compiled programs emulate, one paragraph for the dtypes that share it."""
    dtypes: dict[str, list[str]] = {}
    for dtype, found in known_dtypes(record).items():
        if text := emulated(found.emulated):
            dtypes.setdefault(text, []).append(dtype)
    return [("emulates", f"{', '.join(names)}: {text}") for text, names in dtypes.items()]


def messages(record: OpRecord) -> list[tuple[str, str]]:
    """Return what the samples met that did not pass, one paragraph a dtype, step and message."""
    return [
        (dtype, f"{step}: {said.cause} in {said.samples} of {tally.tried}: {said.message}")
        for dtype, found in known_dtypes(record).items()
        for step, tally in steps(found)
        for said in tally.said
    ] + [(dtype, note) for dtype, found in known_dtypes(record).items() for note in found.notes]


def refusals(record: OpRecord) -> Iterator[str]:
    """Yield a sentence for each kind of call that the kernel refuses."""
    yield from map(refusal, record.refusals)


def refusal(found: Refusal) -> str:
    """Return ``descending=True at int32: ...``: arguments, dtypes, message."""
    arguments = ", ".join(f"{name}={value}" for name, value in sorted(found.when.items()))
    return f"{arguments or 'any call'} at {', '.join(found.dtypes)}: {found.message}"


def reference(record: OpRecord) -> str:
    """Return the reference kernel with its check, or why there is none; empty: nobody says."""
    if record.reference is None:
        return f"none: {record.reference_note}" if record.reference_note else ""
    checks = ", ".join(f"{dtype} {check}" for dtype, check in record.reference_checks.items())
    agrees = f"; agrees with eager PyTorch: {checks}" if checks else "; not checked"
    note = f"; {record.reference_note}" if record.reference_note else ""
    return f"{record.reference}{agrees}{note}"


def in_order(chips: Iterable[str]) -> list[str]:
    """Return TPU generations, oldest first: those called ``v5e`` came before ``tpu7x``."""
    return sorted(chips, key=lambda chip: (not chip.startswith("v"), chip))


def steps(found: DtypeEvidence) -> Iterator[tuple[str, Tally]]:
    """Yield each step's name and how many samples passed it."""
    yield "lowered", found.lowered
    for chip in in_order(found.compiled):
        yield f"compiled for {chip}", found.compiled[chip]
    yield "numerics", found.numerics
    yield "gradient", found.gradient


def _count(tally: Tally | None) -> str:
    return f"{tally.passed}/{tally.tried}" if tally and tally.tried else "-"


def emulated(by_chip: Mapping[str, str]) -> str:
    """Return ``f64 on v5e, v6e`` for chip -> what the compiled program emulates."""
    words: dict[str, list[str]] = {}
    for chip in in_order(by_chip):
        words.setdefault(by_chip[chip], []).append(chip)
    return "; ".join(f"{text} on {', '.join(chips)}" for text, chips in words.items())
