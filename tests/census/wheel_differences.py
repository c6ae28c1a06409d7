"""Where the two tracers differ on a model, and why, where that is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tests.census.wheel_run import Counts, Pair

REASONS: Mapping[frozenset[str], str] = {}
"""Ops whose counts differ, all of them -> why. Only what was found out on the wheel goes here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A phase of a model in which the tracers did not see the same calls."""

    pair: Pair
    phase: str
    counts: Mapping[str, tuple[int, int]]
    """Role and op overload -> calls on the pretended device, calls above torch_tpu."""

    @property
    def of_sets(self) -> bool:
        """Whether an op is met by one tracer alone."""
        ours, theirs = (_ops(side[self.phase]) for side in (self.pair.pretended, self.pair.real))
        return set(ours) != set(theirs)

    @property
    def reason(self) -> str | None:
        """Why, None where that is not known."""
        return REASONS.get(frozenset(name.split()[1] for name in self.counts))

    def __str__(self) -> str:
        """Write each op with both counts."""
        return "; ".join(f"{name} {a} / {b}" for name, (a, b) in sorted(self.counts.items()))


def differences(pair: Pair) -> list[Difference]:
    """Return the phases in which counts differ; a call's role counts too."""
    found = []
    for phase in pair.compared:
        ours, theirs = pair.pretended[phase], pair.real[phase]
        unequal = {
            name: (ours.get(name, 0), theirs.get(name, 0))
            for name in {*ours, *theirs}
            if ours.get(name, 0) != theirs.get(name, 0)
        }
        if unequal:
            found.append(Difference(pair=pair, phase=phase, counts=unequal))
    return found


def _ops(counts: Counts) -> Counter[str]:
    ops: Counter[str] = Counter()
    for name, count in counts.items():
        ops[name.split()[1]] += count
    return ops
