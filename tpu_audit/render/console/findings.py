"""The findings, grouped by cause: what, where, how to fix it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.render.console.words import SEVERITY_STYLES, tally
from tpu_audit.render.summary import Cause, causes, severities
from tpu_audit.render.text import plural
from tpu_audit.types.report import Report, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpu_audit.render.console.paper import Paper

TOP_CAUSES = 5
"""Causes a screen has room for."""
FEW_LINES = 8
"""Lines of one file that a screen has room for."""


def write_findings(paper: Paper, report: Report, *, everything: bool) -> None:
    """Write the worst causes, or all of them; what is left out is counted."""
    found = causes(report)
    counts = severities(report.findings)
    paper.blank()
    paper.line(("Findings: ", "bold"), tally(counts))
    shown = found if everything else found[:TOP_CAUSES]
    for cause in shown:
        _write_cause(paper, cause, many=len(report.models) > 1, everything=everything)
    hidden = found[len(shown) :]
    if hidden:
        paper.line((f"  and {plural(len(hidden), 'more cause')}: -v shows them all", "dim"))


def _write_cause(paper: Paper, cause: Cause, *, many: bool, everything: bool) -> None:
    limit = None if everything else 2
    noun = "place" if cause.in_files else "call"
    extent = [plural(cause.calls, noun)] if cause.modules or cause.lines else []
    if many:
        extent.append(plural(len(cause.models), "model"))
    ops = f"{_few(cause.ops, limit)}: " if cause.ops else ""
    paper.labelled(
        (cause.code, SEVERITY_STYLES[cause.severity]),
        f"{cause.severity.value}: {ops}{cause.message}",
        (f" ({', '.join(extent)})" if extent else "", "dim"),
    )
    lines = cause.lines if everything else [_shortened(place) for place in cause.lines]
    where = [text for text in (_few(cause.modules, limit), _few(lines, limit)) if text]
    if where:
        paper.labelled("  where", " at ".join(where))
    # An informational finding asks for nothing on a full screen.
    if cause.fix and (everything or cause.severity is not Severity.INFO):
        paper.labelled("  fix", cause.fix)


def _shortened(place: str) -> str:
    """Return ``path:1,2,3`` with the first lines only, and how many more there are."""
    path, colon, numbers = place.rpartition(":")
    lines = numbers.split(",")
    more = len(lines) - FEW_LINES
    return f"{path}{colon}{','.join(lines[:FEW_LINES])}... ({more} more)" if more > 1 else place


def _few(items: Sequence[str], limit: int | None) -> str:
    shown = items[:limit]
    more = len(items) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
