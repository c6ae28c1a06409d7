"""Many models: one line each, then how they came out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from op_registry.schema import Support
from tpu_audit.render.console.model import config_source
from tpu_audit.render.console.words import failure, outcome, title
from tpu_audit.render.summary import Cost, by_support, not_audited, severities
from tpu_audit.render.text import plural
from tpu_audit.render.units import share
from tpu_audit.types.report import ModelReport, PhaseReport, Report, Severity, Status, Verdict

if TYPE_CHECKING:
    from tpu_audit.render.console.paper import Paper

Cell = str | tuple[str, str]


def write_overview(paper: Paper, report: Report) -> None:
    """Write the table of models, the reasons of those not audited, and the totals."""
    header = ("model", "phase", "verdict", "errors", "warnings", "calls", "FLOPs")
    rows = [_row(report, model, phase) for model in report.models for phase in model.phases]
    paper.line("Models, and their share of calls and FLOPs on native TPU kernels")
    paper.blank()
    paper.table(header, rows, text=3)
    _write_failures(paper, report)
    paper.blank()
    paper.line(("Summary: ", "bold"), totals(report))


def totals(report: Report) -> str:
    """Return ``5 models: 3 ready, 1 blocked, 1 not audited``; every model counts once."""
    counts = Counter(_worst(model) for model in report.models)
    parts = [f"{number} {word}" for word, number in sorted(counts.items())]
    return f"{plural(len(report.models), 'model')}: {', '.join(parts) or 'none'}"


def _worst(model: ModelReport) -> str:
    undone = not_audited(model.phases)
    if any(phase.verdict is Verdict.BLOCKED for phase in undone):
        return "blocked by its files"
    if undone or not model.phases:
        return "not audited"
    found = {phase.verdict for phase in model.phases}
    order = (Verdict.BLOCKED, Verdict.UNKNOWN, Verdict.READY_WITH_WARNINGS, Verdict.READY)
    return next(verdict for verdict in order if verdict in found).value.replace("_", " ")


def _row(report: Report, model: ModelReport, phase: PhaseReport) -> list[Cell]:
    mine = [
        finding
        for finding in report.findings
        if finding.model == model.id
        and (finding.component, finding.phase, finding.dtype)
        in {(phase.component, phase.phase, phase.dtype), (None, None, None)}
    ]
    word, style = outcome(phase)
    name: list[Cell] = [
        model.target,
        title(phase),
        (word.lower().partition(" (")[0], style),
    ]
    counts = severities(mine)
    errors, warnings = f"{counts[Severity.ERROR]:,}", f"{counts[Severity.WARNING]:,}"
    if phase.status is not Status.TRACED:
        return [*name, *((errors, warnings) if model.code else ("-", "-")), "-", "-"]
    total, native = Cost.of(phase.ops), by_support(phase)[Support.NATIVE]
    calls, flops = share(native.calls, total.calls), share(native.flops, total.flops)
    return [*name, errors, warnings, calls, flops]


def _write_failures(paper: Paper, report: Report) -> None:
    catalogue = [model.target for model in report.models if model.config_source == "catalogue"]
    for model in report.models:
        reasons = dict.fromkeys(failure(phase) for phase in not_audited(model.phases))
        if reasons:
            paper.blank()
            paper.line("  ", (model.target, "bold"))
        for reason in reasons:
            paper.labelled("  why", reason)
    if catalogue:
        paper.blank()
        example = next(model for model in report.models if model.config_source == "catalogue")
        paper.labelled("config", config_source(example), f" ({', '.join(catalogue)})")
