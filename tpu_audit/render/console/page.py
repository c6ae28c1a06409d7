"""Puts the parts of the console report together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.render.console.findings import write_findings
from tpu_audit.render.console.model import write_model
from tpu_audit.render.console.overview import write_overview
from tpu_audit.render.console.paper import Paper
from tpu_audit.render.console.scope import write_next, write_scope
from tpu_audit.render.console.words import outcome, title
from tpu_audit.types.report import Status

if TYPE_CHECKING:
    from tpu_audit.render.interface import View
    from tpu_audit.types.report import Report


class ConsoleRenderer:
    """Plain text, ASCII of its own; colours when the view asks for them."""

    def render(self, report: Report, view: View) -> str:
        """Return the report for a terminal of ``view.width`` columns."""
        paper = Paper(view)
        if view.verbosity < 0:
            _write_verdicts(paper, report)
            return paper.text()
        everything = view.verbosity > 0
        if len(report.models) == 1:
            write_model(paper, report.models[0], report.versions, everything=everything)
        else:
            write_overview(paper, report)
        if everything and len(report.models) > 1:
            for model in report.models:
                paper.blank()
                write_model(paper, model, report.versions, everything=True)
        phases = [phase for model in report.models for phase in model.phases]
        traced = [phase for phase in phases if phase.status is Status.TRACED]
        if traced or report.findings:
            write_findings(paper, report, everything=everything)
        if traced:
            write_scope(paper, traced, everything=everything)
        for note in report.notes:
            paper.labelled("note", (note, "yellow"))
        write_next(paper, report)
        return paper.text()


def _write_verdicts(paper: Paper, report: Report) -> None:
    """Write one line a phase: all that ``--quiet`` leaves."""
    for model in report.models:
        for phase in model.phases:
            paper.line(model.target, f" {title(phase)} ", outcome(phase))
