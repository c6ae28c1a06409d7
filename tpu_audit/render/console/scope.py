"""What the verdict does not cover, and what to run next."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tpu_audit.render.summary import (
    INPUT_ERRORS,
    causes,
    not_audited,
    random_calls,
    registered_only,
)
from tpu_audit.render.text import listed, plural
from tpu_audit.types.report import PhaseReport, Report, Severity

if TYPE_CHECKING:
    from tpu_audit.render.console.paper import Paper


def write_scope(paper: Paper, traced: list[PhaseReport], *, everything: bool) -> None:
    """Write what was not checked in the phases that were traced."""
    names = dict.fromkeys(phase.phase for phase in traced)
    paper.blank()
    paper.line(("Not checked", "bold"))
    paper.labelled("phases", f"anything but {listed(list(names))}; weights, speed, numerics")
    _write_evidence(paper, traced)
    _write_guesses(paper, traced)
    for text in _assumptions(traced, everything=everything):
        paper.labelled("assumed", text)


def write_next(paper: Paper, report: Report) -> None:
    """Write the command that helps most from here."""
    paper.blank()
    paper.line(("Next: ", "bold"), next_command(report))


def next_command(report: Report) -> str:
    """Return the next command to run: explain the worst cause, cure a failure, or go wider."""
    reasons = {phase.reason_code for model in report.models for phase in not_audited(model.phases)}
    worst = [cause for cause in causes(report) if cause.severity is not Severity.INFO]
    if worst and worst[0].severity is Severity.ERROR:
        return f"tpu-audit explain {shlex.quote((*worst[0].ops, worst[0].code)[0])}"
    if reasons:
        return "tpu-audit scan --help" if reasons <= INPUT_ERRORS else "tpu-audit doctor"
    if worst:
        return f"tpu-audit explain {worst[0].code}"
    target = shlex.quote(report.models[0].target) if report.models else "TARGET"
    return f"tpu-audit scan {target} --dtype bf16,f32 --seq-len 2048 -o json=report.json"


def _write_evidence(paper: Paper, traced: list[PhaseReport]) -> None:
    calls = sum(row.count for phase in traced for row in phase.ops)
    weak = sum(map(registered_only, traced))
    drawn = sum(map(random_calls, traced))
    if weak:
        random = f"; {drawn:,} draw random numbers" if drawn else ""
        text = f"{weak:,} of {plural(calls, 'call')} rest on registration alone{random}"
        paper.labelled("evidence", text)
    elif drawn:
        paper.labelled("evidence", f"{drawn:,} of {plural(calls, 'call')} draw random numbers")


def _write_guesses(paper: Paper, traced: list[PhaseReport]) -> None:
    guesses = sum(row.guesses for phase in traced for row in phase.ops)
    on_cpu = sum(count for phase in traced for count in phase.cpu_ops.values())
    if guesses:
        text = f"{plural(guesses, 'call')} needed a value that only weights could give; guessed"
        paper.labelled("guesses", text)
    if on_cpu:
        paper.labelled("CPU", f"{plural(on_cpu, 'call')} on CPU tensors are not TPU calls")


def _assumptions(traced: list[PhaseReport], *, everything: bool) -> list[str]:
    found = list(dict.fromkeys(text for phase in traced for text in phase.assumptions))
    if everything or not found:
        return found
    return [f"{plural(len(found), 'assumption')}: -v lists them"]
