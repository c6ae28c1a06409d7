"""What a verification came to, in numbers by dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING

from op_registry.evidence import DTYPES
from op_registry.verify.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from op_registry.evidence import DtypeEvidence, Tally
    from op_registry.verify.run import Verified


def counts(verified: Verified) -> dict[str, dict[str, dict[str, int]]]:
    """Return dtype -> step -> how many passed of how many tried, and over how many ops."""
    by_dtype: dict[str, list[DtypeEvidence]] = {}
    for found in verified.found.values():
        for one in found:
            by_dtype.setdefault(one.dtype, []).append(summarise(one))
    return {dtype: _steps(by_dtype[dtype]) for dtype in DTYPES if dtype in by_dtype}


def table(verified: Verified) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the same as a header and rows of words."""
    found = counts(verified)
    steps = list(dict.fromkeys(step for steps in found.values() for step in steps))
    rows = [
        (dtype, f"{by_step['lowered']['ops']:,}", *(_cell(by_step.get(step)) for step in steps))
        for dtype, by_step in found.items()
    ]
    return ("dtype", "ops", *steps), rows


def _steps(every: list[DtypeEvidence]) -> dict[str, dict[str, int]]:
    chips = sorted({chip for one in every for chip in one.compiled})
    steps = {"lowered": _sum(one.lowered for one in every)}
    for chip in chips:
        steps[chip] = _sum(one.compiled[chip] for one in every if chip in one.compiled)
    steps["numerics"] = _sum(one.numerics for one in every)
    steps["gradient"] = _sum(one.gradient for one in every)
    return {name: step for name, step in steps.items() if step["tried"]}


def _sum(tallies: Iterable[Tally]) -> dict[str, int]:
    tried = [tally for tally in tallies if tally.tried]
    return {
        "ops": len(tried),
        "passed": sum(tally.passed for tally in tried),
        "tried": sum(tally.tried for tally in tried),
    }


def _cell(step: dict[str, int] | None) -> str:
    return f"{step['passed']:,}/{step['tried']:,}" if step else ""
