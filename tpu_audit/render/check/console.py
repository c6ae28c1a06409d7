"""The checker's report for a terminal: one screen, what to do first on top."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING

from tpu_audit.render.check.concise import line_of
from tpu_audit.render.check.statistics import write_statistics
from tpu_audit.render.console.paper import Paper
from tpu_audit.render.console.words import SEVERITY_STYLES, tally
from tpu_audit.render.summary import severities
from tpu_audit.render.text import plural
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpu_audit.render.check.view import CheckView
    from tpu_audit.types.check import CauseGroup, CheckReport

TOP_CAUSES = 5
"""Causes a screen has room for."""
_FEW_PLACES = 3
_KINDS = 4


class ConsoleRenderer:
    """Plain text, ASCII of its own; colours when the view asks for them."""

    def render(self, report: CheckReport, view: CheckView) -> str:
        """Return the report for a terminal of ``view.width`` columns."""
        paper = Paper(view)
        if view.verbosity < 0:
            for finding in report.findings:
                if finding.severity is Severity.ERROR:
                    paper.line(line_of(finding))
            return paper.text() if report.findings else ""
        paper.line(("Checked: ", "bold"), _files(report))
        paper.line(("Findings: ", "bold"), tally(severities(report.findings)))
        if view.statistics:
            write_statistics(paper, report)
        else:
            _write_causes(paper, report, everything=view.verbosity > 0)
        _write_rest(paper, report, view)
        return paper.text()


def _files(report: CheckReport) -> str:
    total = sum(report.files.values())
    kinds = Counter(report.files).most_common()
    named = [f"{count:,} {kind}" for kind, count in kinds[:_KINDS]]
    more = sum(count for _, count in kinds[_KINDS:])
    parts = [*named, *([f"{more:,} others"] if more else [])]
    return f"{plural(total, 'file')}" + (f" ({', '.join(parts)})" if parts else "")


def _write_causes(paper: Paper, report: CheckReport, *, everything: bool) -> None:
    """Write the causes that matter most, or all; what is left out is counted."""
    matter = [cause for cause in report.causes if cause.severity is not Severity.INFO]
    shown = report.causes if everything else matter[:TOP_CAUSES]
    if shown:
        paper.blank()
        paper.line(("All causes" if everything else "Do first", "bold"))
    for cause in shown:
        _write_cause(paper, cause, everything=everything)
    hidden = len(report.causes) - len(shown)
    if hidden:
        paper.line((f"  and {plural(hidden, 'more cause')}: -v shows them all", "dim"))


def _write_cause(paper: Paper, cause: CauseGroup, *, everything: bool) -> None:
    extent = f"{plural(cause.count, 'place')} in {plural(cause.files, 'file')}"
    paper.labelled(
        (cause.code, SEVERITY_STYLES[cause.severity]),
        f"{cause.severity.value}: {cause.message}",
        (f" ({extent})", "dim"),
    )
    paper.labelled("  where", _few(cause.places, None if everything else _FEW_PLACES))
    if cause.fix:
        paper.labelled("  fix", cause.fix)


def _few(items: Sequence[str], limit: int | None) -> str:
    shown = items[:limit]
    more = len(items) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _write_rest(paper: Paper, report: CheckReport, view: CheckView) -> None:
    """Write what was left out, why, and the command that helps most from here."""
    paper.blank()
    _write_suppressed(paper, report, view)
    if report.unread:
        shown = report.unread if view.verbosity > 0 else report.unread[:_FEW_PLACES]
        paper.labelled("not read", _unread_count(report))
        for unread in shown:
            place = unread.path if unread.line is None else f"{unread.path}:{unread.line}"
            paper.labelled("", f"{place}: {unread.reason}")
    for note in report.notes:
        paper.labelled("note", (note, "yellow"))
    paper.line(("Next: ", "bold"), next_command(report))


def _write_suppressed(paper: Paper, report: CheckReport, view: CheckView) -> None:
    ways = Counter(left.by for left in report.suppressed)
    if not ways:
        return
    text = ", ".join(f"{count:,} by {way}" for way, count in sorted(ways.items()))
    hint = "" if view.show_suppressed else " (--show-suppressed lists them)"
    paper.labelled("ignored", text + hint)
    for left in report.suppressed if view.show_suppressed else ():
        reason = f": {left.reason}" if left.reason else ""
        paper.labelled("", f"{line_of(left.finding)} [{left.by}{reason}]")


def _unread_count(report: CheckReport) -> str:
    files = len({unread.path for unread in report.unread})
    return f"{plural(files, 'file')}, wholly or in part"


def next_command(report: CheckReport) -> str:
    """Return the next command: repair what is safe, explain the worst, or audit the model."""
    paths = " ".join(map(shlex.quote, report.paths))
    repairs = sum(finding.fixable == "safe" for finding in report.findings)
    if repairs:
        return (
            f"tpu-audit fix {paths}   (shows {plural(repairs, 'safe repair')}; --write makes them)"
        )
    matter = [cause for cause in report.causes if cause.severity is not Severity.INFO]
    if matter:
        return f"tpu-audit explain {matter[0].code}"
    return "tpu-audit scan MODEL   (audits the ops of the model that this code loads)"
