"""The pretended device against the real torch_tpu, on a model of each family of transformers."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.census.families import families, family_of
from tests.census.hub import versions
from tests.census.hub_index import index_hub
from tests.census.markdown import table
from tests.census.wheel_differences import Difference, differences
from tests.census.wheel_run import PHASES, Pair, trace_pairs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODELS = 120
"""Models to compare, one of a family."""
SETS, COUNTS = 0.97, 0.9
"""Least shares of the models with equal op sets, and with equal counts, in all their phases."""
_SPARE = 1.1
"""Some models cannot be traced with any config at hand: so many times as many are tried."""
REPORT = "wheel_agreement.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """What came of the models of one run."""

    pairs: Sequence[Pair]
    wanted: int

    @property
    def compared(self) -> list[Pair]:
        """Models of which both tracers came to the end of some phase, as many as are wanted."""
        return [pair for pair in self.pairs if pair.compared][: self.wanted]

    @property
    def differences(self) -> list[Difference]:
        """All of them, in order of the models."""
        return [found for pair in self.compared for found in differences(pair)]

    def share(self, phase: str | None = None, *, sets: bool = False) -> tuple[int, int]:
        """Return (models that agree, models compared) in one phase, or else in all their phases.

        They agree in counts, or in ``sets`` of ops.
        """
        models = [pair for pair in self.compared if phase is None or phase in pair.compared]
        unlike = {
            id(found.pair)
            for found in self.differences
            if phase in {None, found.phase} and (found.of_sets or not sets)
        }
        return len(models) - len(unlike), len(models)

    @property
    def well(self) -> bool:
        """Whether all that must be shown is."""
        (sets, of), (counts, _) = self.share(sets=True), self.share()
        enough = of >= self.wanted and sets >= SETS * of and counts >= COUNTS * of
        return enough and all(found.reason for found in self.differences)


def agree(
    python: str,
    hub: Path | None,
    out: Path,
    tell: Callable[[str], None],
    *,
    limit: int = MODELS,
) -> bool:
    """Trace ``limit`` models with both tracers and write the report into ``out``.

    ``python`` is an interpreter with torch-tpu. Returns whether the tracers agree as they must.
    """
    index = index_hub(hub)
    tried = families(index)[: round(limit * _SPARE)]
    pairs = tuple(trace_pairs(python, tried, index, tell))
    run = Agreement(pairs=pairs, wanted=limit)
    out.mkdir(parents=True, exist_ok=True)
    (out / REPORT).write_text(page(run, _wheel(python)), encoding="utf-8")
    return run.well


def _wheel(python: str) -> str:
    code = "from importlib.metadata import version; print(version('torch-tpu'), version('torch'))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return "torch-tpu {} with torch {}".format(*done.stdout.split())


def page(run: Agreement, wheel: str) -> str:
    """Return the report in Markdown."""
    models = len(run.compared)
    return f"""# The pretended device against the wheel

{models} models, each of another family of transformers, traced twice with the same config: by the
tracer of `scan`, which pretends the device, and by the same recorder above the dispatcher of the
real torch_tpu. Small configs or few layers, 32 tokens, no TPU. Counts are compared by op overload
and by who issued the call.

Made with {versions()} against {wheel} by `.ci/census wheel --python PYTHON --hub FOLDER`.

## Agreement

{_totals(run)}
## Differences

{_differences(run)}
## Models that were compared

{table(("family", "class", "config", "phases", "ops", "calls"), map(_row, run.compared))}
## Tried and not compared, or not in all phases

{_lost(run)}"""


def _totals(run: Agreement) -> str:
    rows = []
    for phase in (None, *PHASES):
        (sets, of), (counts, _) = run.share(phase, sets=True), run.share(phase)
        rows.append((phase or "all phases", of, _percent(sets, of), _percent(counts, of)))
    header = ("phase", "models", "equal op sets", "equal counts")
    needed = f"\nRequired in all phases: {SETS:.0%} equal op sets, {COUNTS:.0%} equal counts.\n"
    return table(header, rows) + needed


def _percent(part: int, whole: int) -> str:
    return f"{part} ({part / max(whole, 1):.1%})"


def _differences(run: Agreement) -> str:
    if not run.differences:
        return "None.\n"
    rows = [
        (d.pair.of.name, d.phase, "set" if d.of_sets else "count", str(d), d.reason or "not known")
        for d in run.differences
    ]
    return table(("class", "phase", "of", "calls: pretended / torch_tpu", "why"), rows)


def _row(pair: Pair) -> tuple[object, ...]:
    calls = sum(sum(counts.values()) for counts in pair.real.values())
    ops = {name.split()[1] for counts in pair.real.values() for name in counts}
    family = family_of(pair.of.model_type)
    return family, pair.of.name, pair.source, ", ".join(pair.compared), len(ops), calls


def _lost(run: Agreement) -> str:
    rows = [
        (pair.of.name, pair.source, what, why)
        for pair in run.pairs
        for what, why in pair.errors.items()
    ]
    return (
        table(("class", "config", "tracer and phase", "what was said"), rows) if rows else "None.\n"
    )
