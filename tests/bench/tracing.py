"""How many models a CPU second traces, beside the bare cost of the same modules."""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.bench.figure import Figure, Section, spread
from tests.bench.processes import PYTHON, run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

STEP = 10
"""Every tenth model type by its name is measured: some sixty."""
COMMAND = (*PYTHON, "-m", "tests.bench.trace_models", str(STEP))
LEAST_A_SECOND = 3.0
_RUNS = 2
_METHOD = """\
Forward passes of {count} classes of transformers: of every {step}th model type by its name, the
main head, from the default config with few layers; bfloat16, 32 tokens. {untraced} more of the
sample cannot be traced so and are left out. Traced: built, given inputs, run, recorded. Bare: the
same module built from the same config on fake tensors and run with the same inputs, with no
recorder and no known values, where it runs so ({bare} do). One process, {runs} times; CPU time of
the second run of each model, so that imports do not count."""

Answer = dict[str, Any]


def section(folder: Path) -> Section:
    """Measure traces; ``folder`` is for a cache."""
    return summary([_answer(folder) for _ in range(_RUNS)])


def _answer(folder: Path) -> Answer:
    out = run(COMMAND, folder / "trace").out
    answer: Answer = json.loads(out.rstrip().rpartition("\n")[2])
    return answer


def summary(answers: Sequence[Answer]) -> Section:
    """Return what came of all runs; the run in the middle counts."""
    first = answers[0]
    rates = [_rate(answer["models"], "traced") for answer in answers]
    both = [[one for one in answer["models"] if one["bare"] is not None] for answer in answers]
    bare = [_rate(models, "bare") for models in both]
    costs = [_total(models, "traced") / _total(models, "bare") for models in both]
    each = [one["traced"] for one in first["models"]]
    figures = (
        Figure(
            what="models traced in a CPU second",
            value=median(rates),
            least=LEAST_A_SECOND,
            unit="models",
            detail=f"{spread(rates)}; one model {median(each):.2f} s in the median, "
            f"at most {max(each):.2f} s",
        ),
        Figure(
            what="models built and run bare in a CPU second",
            value=median(bare),
            unit="models",
            detail=spread(bare),
        ),
        Figure(
            what="CPU time of traces against bare runs of the same models",
            value=median(costs),
            unit="times",
            detail=spread(costs),
        ),
    )
    method = _METHOD.format(
        count=len(first["models"]),
        step=STEP,
        untraced=len(first["untraced"]),
        bare=len(both[0]),
        runs=len(answers),
    )
    return Section(title="Trace", method=method, figures=figures)


def _total(models: Sequence[Answer], what: str) -> float:
    return float(sum(one[what] for one in models))


def _rate(models: Sequence[Answer], what: str) -> float:
    return len(models) / _total(models, what)
