"""Condenses what was found of an op at a dtype into the evidence that a snapshot keeps."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from op_registry.evidence import Cause, DtypeEvidence, Said, Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from op_registry.verify.facts import Compiled, Found, Problem


def summarise(found: Found) -> DtypeEvidence:
    """Return the evidence; a Mosaic kernel's runs are absent, since XLA:CPU cannot make them."""
    compiled = {chip: list(programs.values()) for chip, programs in sorted(found.compiled.items())}
    return DtypeEvidence(
        lowered=tally(sample.problem for sample in found.samples),
        compiled={chip: tally(c.problem for c in results) for chip, results in compiled.items()},
        emulated={
            chip: words for chip, results in compiled.items() if (words := _emulated(results))
        },
        numerics=tally(ran.problem for ran in found.ran.values()),
        gradient=tally(found.gradient.values()),
        notes=_notes(found, compiled),
    )


def tally(problems: Iterable[Problem | None]) -> Tally:
    """Count the steps without a problem; each message of the others with its samples."""
    met = list(problems)
    failed = Counter((p.cause, p.message) for p in met if p is not None)
    said = tuple(
        Said(cause=cause, message=message, samples=count)
        for (cause, message), count in sorted(failed.items())
    )
    return Tally(passed=len(met) - failed.total(), tried=len(met), said=said)


def is_random(found: Iterable[Found]) -> bool:
    """Tell whether an op draws random numbers: it may, and a sample could not lower without."""
    samples = [sample for one in found for sample in one.samples]
    return any(
        "random" in sample.flags and sample.problem and sample.problem.cause is Cause.NEEDS_DEVICE
        for sample in samples
    )


def _emulated(results: Iterable[Compiled]) -> str:
    """Return what every compiled program emulates: one may ask for another dtype by an argument."""
    each = [set(result.emulates) for result in results if result.problem is None]
    return ", ".join(sorted(set.intersection(*each))) if each else ""


def _notes(found: Found, compiled: Mapping[str, Iterable[Compiled]]) -> tuple[str, ...]:
    notes = {note for results in compiled.values() for result in results for note in result.notes}
    notes |= {note for ran in found.ran.values() for note in ran.notes}
    return tuple(sorted(notes))
