"""The line that says what torch.compile made of a phase."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.reports import phase, report
from tpu_audit.render.console import ConsoleRenderer
from tpu_audit.render.console.compiled import sentence
from tpu_audit.render.interface import View
from tpu_audit.render.json_report import JsonRenderer
from tpu_audit.render.schema import report_adapter
from tpu_audit.types.compiled import BreakKind, Change, GraphBreak, Recompile
from tpu_audit.types.report import CompileReport, Report, Status, Verdict

STOP = GraphBreak(
    reason="Data-dependent branching",
    detail="Detected data-dependent branching",
    kind=BreakKind.DATA,
    source=None,
    module=None,
    count=1,
    eager=False,
)


def compiled(**fields: Any) -> CompileReport:
    """Return a compilation: one graph, or what ``fields`` say."""
    values: dict[str, Any] = {"graphs": 1, "launches": 1, "verdict": Verdict.READY}
    return CompileReport(status=Status.TRACED, **{**values, **fields})


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (compiled(), "1 graph"),
        (
            compiled(graphs=3, launches=9, breaks=(STOP, replace(STOP, eager=True))),
            "3 graphs run 9 times a call, 2 breaks, 1 function left to Python",
        ),
        (
            compiled(
                recompiles=(
                    Recompile(change=Change.TOKEN, anew=True),
                    Recompile(change=Change.TOKEN_STATIC, anew=True),
                    Recompile(change=Change.BATCH, anew=False),
                )
            ),
            "1 graph; anew for each token",
        ),
        (
            CompileReport(
                status=Status.FAILED,
                reason="it took too long",
                reason_code="timeout",
                verdict=Verdict.UNKNOWN,
            ),
            "failed (timeout): it took too long",
        ),
    ],
)
def test_sentence(made: CompileReport, words: str) -> None:
    """Graphs, how often they run, breaks, and what compiles anew; or why there is none."""
    assert sentence(made) == words


def _report() -> Report:
    value = report()
    made = phase(compiled=compiled(breaks=(STOP,)))
    return replace(value, models=(replace(value.models[0], phases=(made,)),))


def test_the_console_has_a_line_for_it() -> None:
    """It stands in the model's block."""
    text = ConsoleRenderer().render(_report(), View())

    assert "compile    1 graph, 1 break" in text


def test_the_json_report_reads_back() -> None:
    """Breaks, kinds and changes survive the round trip."""
    value = _report()

    assert report_adapter().validate_json(JsonRenderer().render(value, View())) == value
