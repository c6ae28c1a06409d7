"""The checker's report for a terminal: one screen, what to do first on top."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING

from tpu_audit.render.check.concise import line_of
from tpu_audit.render.check.places import common_folder, where
from tpu_audit.render.check.statistics import write_statistics
from tpu_audit.render.console.paper import Paper
from tpu_audit.render.console.words import SEVERITY_STYLES, tally
from tpu_audit.render.summary import severities
from tpu_audit.render.text import clean, plural
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
            errors = (f for f in report.findings if f.severity is Severity.ERROR)
            return "".join(f"{clean(line_of(error))}\n" for error in errors)
        base = common_folder(report)
        paper.line(("Checked: ", "bold"), _files(report), f" below {base}" if base else "")
        paper.line(("Findings: ", "bold"), tally(severities(report.findings)))
        if view.statistics:
            write_statistics(paper, report)
        else:
            _write_causes(paper, report, base, everything=view.verbosity > 0)
        _write_rest(paper, report, view)
        return paper.text()


def _files(report: CheckReport) -> str:
    total = sum(report.files.values())
    kinds = Counter(report.files).most_common()
    named = [f"{count:,} {kind}" for kind, count in kinds[:_KINDS]]
    more = sum(count for _, count in kinds[_KINDS:])
    parts = [*named, *([f"{more:,} others"] if more else [])]
    return f"{plural(total, 'file')}" + (f" ({', '.join(parts)})" if parts else "")


def _write_causes(paper: Paper, report: CheckReport, base: str, *, everything: bool) -> None:
    """Write the causes that matter most, or all; what is left out is counted."""
    matter = [cause for cause in report.causes if cause.severity is not Severity.INFO]
    shown = report.causes if everything else matter[:TOP_CAUSES]
    if shown:
        paper.blank()
        paper.line(("All causes" if everything else "Do first", "bold"))
    for cause in shown:
        _write_cause(paper, cause, base, everything=everything)
    hidden = report.causes[len(shown) :]  # the worst are in front
    if hidden:
        paper.line((_folded(hidden, alone=not shown), "dim"))


def _folded(hidden: Sequence[CauseGroup], *, alone: bool) -> str:
    """Return how many causes are left out, of which severity, and how to see them."""
    counts = Counter(cause.severity for cause in hidden)
    kinds = tally({severity: counts[severity] for severity in Severity})
    start = plural(len(hidden), "cause") if alone else f"and {plural(len(hidden), 'more cause')}"
    return f"  {start} ({kinds}): -v shows {'it' if len(hidden) == 1 else 'them all'}"


def _write_cause(paper: Paper, cause: CauseGroup, base: str, *, everything: bool) -> None:
    extent = f"{plural(cause.count, 'place')} in {plural(cause.files, 'file')}"
    paper.labelled(
        (cause.code, SEVERITY_STYLES[cause.severity]),
        f"{cause.severity.value}: {cause.message}",
        *([(f" ({extent})", "dim")] if cause.count > 1 else []),
    )
    paper.labelled("  where", where(cause.places, base, everything=everything))
    if cause.fix:
        paper.labelled("  fix", cause.fix)


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
    many = len(report.paths) > _FEW_PLACES
    paths = "PATH..." if many else " ".join(map(shlex.quote, report.paths))
    repairs = sum(finding.fixable == "safe" for finding in report.findings)
    if repairs:
        return (
            f"tpu-audit fix {paths}   (shows {plural(repairs, 'safe repair')}; --write makes them)"
        )
    matter = [cause for cause in report.causes if cause.severity is not Severity.INFO]
    if matter:
        return f"tpu-audit explain {matter[0].code}"
    return "tpu-audit scan MODEL   (audits the ops of the model that this code loads)"
