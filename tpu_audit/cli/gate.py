"""The exit code that a report earns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.render.summary import INPUT_ERRORS, SEVERITIES, not_audited
from tpu_audit.types.errors import ExitCode
from tpu_audit.types.report import Finding, ModelReport, Report, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

NEVER = "never"


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """What the caller accepts."""

    fail_on: str
    """The least severity that fails, or ``never``."""
    exit_zero: bool = False
    allow_incomplete: bool = False


def exit_code(report: Report, gate: Gate) -> ExitCode:
    """Return 2 for a wrong target, 3 for one not audited, 1 for findings, else 0; first wins."""
    undone = [model for model in report.models if _undone(model)]
    if any(_input_error(model) for model in undone):
        return ExitCode.USAGE
    if undone and not gate.allow_incomplete:
        return ExitCode.INCOMPLETE
    if not gate.exit_zero and failing(report, gate.fail_on):
        return ExitCode.FINDINGS
    return ExitCode.CLEAN


def failing(report: Report, fail_on: str) -> int:
    """Count the findings of a scan at or above ``fail_on``."""
    return at_or_above(report.findings, fail_on)


def at_or_above(findings: Iterable[Finding], fail_on: str) -> int:
    """Count the findings at or above ``fail_on``."""
    if fail_on == NEVER:
        return 0
    limit = SEVERITIES.index(Severity(fail_on))
    return sum(SEVERITIES.index(finding.severity) <= limit for finding in findings)


def incomplete(report: Report) -> list[str]:
    """Return the targets that were not audited, or not in every dtype."""
    return [model.target for model in report.models if _undone(model)]


def _undone(model: ModelReport) -> bool:
    return not model.phases or bool(not_audited(model.phases))


def _input_error(model: ModelReport) -> bool:
    return any(phase.reason_code in INPUT_ERRORS for phase in not_audited(model.phases))
