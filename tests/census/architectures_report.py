"""The two files that the census of architectures writes."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from tests.census.class_trace import ClassResult
from tests.census.hub import versions
from tests.census.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.census.class_trace import PhaseResult

TYPES = 0.97
"""Share of the types with an auto class that must have a traced class."""
CLASSES = 0.95
"""Share of the classes that must be traced."""
TRAINED = 0.9
"""Share of head classes that must train."""
GENERATED = 0.97
"""Share of classes with a ``generate()`` that must be traced in prefill and decode."""
PER_CPU_SECOND = 3.0
"""Forward traces a CPU second, at least."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One run of the census."""

    results: tuple[ClassResult, ...]
    types: int
    seconds: float
    """Wall time."""
    cpu_seconds: float
    """CPU time of all processes."""
    workers: int
    real: bool
    """Whether real configs were at hand."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """What was reached of what."""

    what: str
    done: int
    whole: int
    least: float

    @property
    def holds(self) -> bool:
        """Whether enough was; nothing of nothing is enough."""
        return self.done >= self.least * self.whole


def shares(run: Run) -> list[Share]:
    """Return what the census must show."""
    results = run.results
    traced = {result.of.model_type for result in results if result.traced}
    trained = list(_phases(results, "train", lambda r: r.of.head))
    heads = [r for r in results if r.of.head]
    steps = {name: list(_phases(results, name)) for name in ("prefill", "decode")}
    return [
        Share(what="types with a traced class", done=len(traced), whole=run.types, least=TYPES),
        Share(
            what="classes traced forward",
            done=sum(r.traced for r in results),
            whole=len(results),
            least=CLASSES,
        ),
        *(
            Share(
                what=f"classes with `generate()` traced in {name}",
                done=_ok(found),
                whole=len(found),
                least=GENERATED,
            )
            for name, found in steps.items()
        ),
        Share(what="head classes trained", done=_ok(trained), whole=len(heads), least=TRAINED),
    ]


def well(run: Run) -> bool:
    """Whether all shares and the speed hold."""
    return all(share.holds for share in shares(run)) and rate(run) >= PER_CPU_SECOND


def rate(run: Run) -> float:
    """Return traced forward passes a CPU second, failed attempts counted as time."""
    phases = list(_phases(run.results, "forward"))
    return _ok(phases) / max(sum(p.seconds + p.spent for p in phases), 1e-9)


def _ok(phases: list[PhaseResult]) -> int:
    return sum(phase.traced for phase in phases)


def _phases(
    results: tuple[ClassResult, ...],
    name: str,
    which: Callable[[ClassResult], bool] = lambda _: True,
) -> Iterator[PhaseResult]:
    for result in results:
        phase = result.phase(name)
        if phase is not None and which(result):
            yield phase


def page(run: Run) -> str:
    """Return the report in Markdown."""
    rows = [
        (s.what, s.done, s.whole, f"{s.done / max(s.whole, 1):.1%}", f"{s.least:.0%}")
        for s in shares(run)
    ]
    configs = "real configs of a folder of public ones where it has any, else " if run.real else ""
    return f"""# The architectures of transformers

Every model type of the installed transformers that has an auto class: its base class and its main
head, with {configs}the default config. Layers are
cut to the shortest prefix that has every kind. bfloat16, batch 1, 32 tokens, default limits.
A class is traced forward, then in prefill and decode if it has a `generate()`, then, if it is a
head, in a training step.

Made with {versions()} by `.ci/census architectures --hub FOLDER`,
{run.workers} processes at a time: {run.seconds:,.0f} s of wall time on a machine with other work,
{run.cpu_seconds:,.0f} s of CPU time.

{table(("what", "done", "of", "share", "at least"), rows)}
Forward: {rate(run):.1f} traces a CPU second (at least {PER_CPU_SECOND:g} required), attempts in
vain included.

## Phases

{_costs(run)}
## Where the configs came from

{_sources(run)}
## What is left, by stage and cause

{_causes(run)}
{_failures(run)}"""


def _costs(run: Run) -> str:
    rows = []
    for name in ("forward", "prefill", "train"):
        done = [p for p in _phases(run.results, name) if p.traced]
        times = sorted(p.seconds for p in done) or [0.0]
        rows.append(
            (
                "prefill and decode" if name == "prefill" else name,
                len(done),
                sum(1 for p in done if p.guesses),
                f"{median(times):.2f}",
                f"{times[int(len(times) * 0.9)] if done else 0:.2f}",
                f"{times[-1]:.1f}",
                f"{sum(times):,.0f}",
                max((p.mib for p in done), default=0),
            )
        )
    header = ("phase", "traced", "with guesses", "CPU s median", "90 %", "most", "all", "peak MiB")
    return table(header, rows)


def _sources(run: Run) -> str:
    counted = Counter(
        result.source if result.source.startswith("default") else "real"
        for result in run.results
        if result.traced
    )
    return table(("config", "classes traced"), sorted(counted.items()))


def _lost(run: Run) -> list[tuple[ClassResult, PhaseResult]]:
    return [(r, p) for r in run.results for p in r.phases if not p.traced]


def _causes(run: Run) -> str:
    counted = Counter((p.phase, p.stage, p.code) for _, p in _lost(run))
    rows = [(*key, number) for key, number in sorted(counted.items(), key=str)]
    return table(("phase", "stage", "cause", "classes"), rows)


def _failures(run: Run) -> str:
    rows = [(r.of.model_type, r.of.name, p.phase, p.stage, p.code, p.error) for r, p in _lost(run)]
    return table(("type", "class", "phase", "stage", "cause", "what was said"), rows)


def lines(run: Run) -> str:
    """Return JSON with one line a class, so that a change of one shows as one."""
    found = [
        json.dumps(
            {
                "type": r.of.model_type,
                "class": r.of.name,
                "kind": r.of.kind,
                "config": r.source,
                "phases": {p.phase: _content(p) for p in r.phases},
            }
        )
        for r in run.results
    ]
    return "[\n" + ",\n".join(found) + "\n]\n"


def _content(phase: PhaseResult) -> dict[str, object]:
    if phase.traced:
        return {"calls": phase.calls, "ops": phase.ops, "guesses": phase.guesses}
    return {"stage": phase.stage, "code": phase.code, "error": phase.error}
