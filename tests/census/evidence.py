"""How many of a census's calls rest on registration alone, and which ops they are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from tests.census.markdown import table
from tpu_audit.audit.weigh import dtype_of
from tpu_audit.types.proof import rests_on_registration

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.census.outcome import Outcome
    from tpu_audit.types.report import OpRow

Pair: TypeAlias = tuple[str, str]
"""Op and dtype."""
ALLOWED = 0.02
"""Share of the calls, those that draw random numbers apart, that may rest on registration alone."""


def registered(rows: Iterable[OpRow], backend: str) -> dict[Pair, int]:
    """Return op and dtype -> calls for which nothing but the dispatch table speaks."""
    counts: Counter[Pair] = Counter()
    for row in rows:
        if rests_on_registration(row):
            counts[row.op, dtype_of(row, backend) or "no tensor"] += row.count
    return dict(counts)


def share(outcomes: Iterable[Outcome]) -> float:
    """Return the share of the calls that draw no random numbers."""
    outcomes = list(outcomes)
    calls = sum(outcome.calls - outcome.random for outcome in outcomes)
    return sum(sum(outcome.registered.values()) for outcome in outcomes) / max(calls, 1)


def section(outcomes: Sequence[Outcome]) -> str:
    """Return the counts in a sentence, and the ops by how often they are called."""
    calls = sum(outcome.calls for outcome in outcomes)
    random = sum(outcome.random for outcome in outcomes)
    met: Counter[Pair] = Counter()
    configs: Counter[Pair] = Counter()
    for outcome in outcomes:
        met.update(outcome.registered)
        configs.update(outcome.registered.keys())
    rows = [(op, dtype, count, configs[op, dtype]) for (op, dtype), count in met.most_common()]
    return (
        f"{met.total():,} of {calls - random:,} calls, {share(outcomes):.2%} "
        f"(at most {ALLOWED:.0%} allowed). {random:,} more calls draw random numbers, which no "
        "host without a TPU can lower.\n\n"
        + (table(("op", "dtype", "calls", "configs"), rows) if rows else "None.\n")
    )
