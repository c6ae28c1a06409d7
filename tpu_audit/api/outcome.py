"""Questions on a report that exit codes and callers ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.types.report import ModelReport, Report, Severity, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.INFO)
_STATUSES = (Status.FAILED, Status.SKIPPED, Status.TRACED)


def is_incomplete(report: Report) -> bool:
    """Whether some target was not audited, or not in every dtype."""
    return any(status(model) is not Status.TRACED for model in report.models)


def worst(report: Report) -> Severity | None:
    """Return the highest severity among the findings, None when there are none."""
    found = {finding.severity for finding in report.findings}
    return next((severity for severity in _WORST_FIRST if severity in found), None)


def status(model: ModelReport) -> Status:
    """Return the worst status of the phases of ``model``; ``failed`` when it has none."""
    return _worst_status(phase.status for phase in model.phases)


def _worst_status(statuses: Iterable[Status]) -> Status:
    found = set(statuses)
    return next((s for s in _STATUSES if s in found), Status.FAILED)
