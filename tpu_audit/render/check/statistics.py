"""Counts by rule: what ``--statistics`` shows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tpu_audit.render.console.words import SEVERITY_STYLES

if TYPE_CHECKING:
    from tpu_audit.render.console.paper import Paper
    from tpu_audit.types.check import CheckReport
    from tpu_audit.types.report import Finding, Severity


def write_statistics(paper: Paper, report: CheckReport) -> None:
    """Write one row for each rule and severity, the most findings first."""
    names = {cause.code: cause.name for cause in report.causes}
    counts = Counter((finding.code, finding.severity) for finding in report.findings)
    rows = [
        (
            code,
            names[code],
            (severity.value, SEVERITY_STYLES[severity]),
            f"{count:,}",
            f"{len({f.location.path for f in _of(report, code, severity)}):,}",
            f"{sum(f.fixable == 'safe' for f in _of(report, code, severity)):,}",
        )
        for (code, severity), count in counts.most_common()
    ]
    if rows:
        paper.blank()
        paper.table(("code", "rule", "severity", "findings", "files", "fixable"), rows, text=3)


def _of(report: CheckReport, code: str, severity: Severity) -> list[Finding]:
    return [f for f in report.findings if f.code == code and f.severity is severity]
