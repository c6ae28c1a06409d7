"""The report on mutated configs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from tests.census.markdown import cell, table
from tests.census.mutants import Mutant
from tests.census.outcome import Outcome
from tests.census.sweep import Limits
from tpu_audit.types.report import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMITS = Limits(seconds=20, memory_mib=4096)
"""What one mutant may take."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A mutant and what came of it."""

    number: int
    mutant: Mutant
    outcome: Outcome

    @property
    def label(self) -> str:
        """One cell that is enough to make the mutant again."""
        return f"{self.number}: {self.mutant.base} ({', '.join(self.mutant.mutations)})"


def report(
    judged: Sequence[Judged], wrong: Sequence[str], *, checked: int, configs: int, seed: int
) -> str:
    """Return the page; ``wrong`` are the faults of the command line among ``checked`` runs."""
    return f"""# {len(judged):,} mutated configs through `scan`

Input: mutants of a folder of {configs} public `config.json` files in hub layout, seed {seed}; made
by `.ci/census mutate FOLDER --count {len(judged)} --seed {seed}` with {_versions()}.
Limits of one trace: {LIMITS.seconds:g} s and {LIMITS.memory_mib} MiB of address space; two run at a
time. Figures of time and memory are of one run on one machine.

{_checks(judged, wrong, checked)}
## Outcomes

{_outcomes([one.outcome for one in judged])}
## Mutations

A mutant has one to three of them; one in twenty is damaged as a text as well.

{_mutations(judged)}
## Time and memory

{_extremes(judged)}
## Neither a verdict nor a typed failure

{_untyped(judged)}"""


def _versions() -> str:
    named = ("torch", "transformers")
    return ", ".join(f"{name} {metadata.version(name)}" for name in named)


def _checks(judged: Sequence[Judged], wrong: Sequence[str], checked: int) -> str:
    every = [one.outcome for one in judged]
    rows = [
        ("a verdict, or a failure with stage, code and sentence", sum(o.typed for o in every)),
        ("ended by itself or by its limits", sum(o.code != "hung" for o in every)),
    ]
    by_hand = "`tpu-audit scan` in a process of its own: exit code, status, no traceback"
    return table(
        ("check", "holds for", "of"),
        [*((*row, len(every)) for row in rows), (by_hand, checked - len(wrong), checked)],
    )


def _outcomes(outcomes: Sequence[Outcome]) -> str:
    keys = Counter(
        (str(o.status), o.stage or "", o.code or str(o.verdict), int(o.exit_code)) for o in outcomes
    )
    rows = [(*key, number) for key, number in sorted(keys.items())]
    return table(("status", "stage", "verdict or code", "exit code", "mutants"), rows)


def _mutations(judged: Sequence[Judged]) -> str:
    total: Counter[str] = Counter()
    traced: Counter[str] = Counter()
    for one in judged:
        names = set(one.mutant.mutations)
        total.update(names)
        if one.outcome.status is Status.TRACED:
            traced.update(names)
    rows = [(name, total[name], traced[name]) for name in sorted(total)]
    return table(("mutation", "mutants", "still traced"), rows)


def _extremes(judged: Sequence[Judged]) -> str:
    slowest = sorted(judged, key=lambda one: -one.outcome.seconds)[:5]
    biggest = max(judged, key=lambda one: (one.outcome.child_mib, -one.number))
    worker = max(one.outcome.worker_mib for one in judged)
    rows = [
        (one.label, f"{one.outcome.seconds:.1f}", one.outcome.code or one.outcome.verdict)
        for one in slowest
    ]
    return (
        f"Peak resident memory of a tracing child: {biggest.outcome.child_mib} MiB, by mutant "
        f"{cell(biggest.label)}; of the scanning process: {worker} MiB. Both hold torch and "
        "transformers.\n\n" + table(("slowest mutants", "seconds", "outcome"), rows)
    )


def _untyped(judged: Sequence[Judged]) -> str:
    rows = [
        (one.label, one.outcome.stage, one.outcome.code, one.outcome.reason)
        for one in judged
        if not one.outcome.typed
    ]
    return table(("mutant", "stage", "code", "what was said"), rows) if rows else "None.\n"
