"""What a traced phase means for the move, in one word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from op_registry.schema import Support
from tpu_audit.types.report import Finding, OpRow, Severity, Verdict
from tpu_audit.types.trace import Role

if TYPE_CHECKING:
    from collections.abc import Iterable


def decide(rows: Iterable[OpRow], findings: Iterable[Finding]) -> Verdict:
    """Return the verdict of a traced phase.

    In this order: ``blocked`` when a call is missing or rejected, or a finding is an error;
    ``unknown`` when a call is undecided; ``ready_with_warnings`` when there is a warning, or a
    value that steers the model had to be guessed, so that another course is possible; else
    ``ready``.
    Hazards of severity info do not count: they cost nothing in this phase.
    """
    rows, findings = tuple(rows), tuple(findings)
    supports = {row.support for row in rows}
    severities = {finding.severity for finding in findings}
    if supports & {Support.MISSING, Support.REJECTED} or Severity.ERROR in severities:
        return Verdict.BLOCKED
    if Support.UNKNOWN in supports:
        return Verdict.UNKNOWN
    if Severity.WARNING in severities or any(map(_guessed, rows)):
        return Verdict.READY_WITH_WARNINGS
    return Verdict.READY


def with_files(verdict: Verdict, findings: Iterable[Finding]) -> Verdict:
    """Return ``verdict`` as findings in the model's own files leave it.

    An error there blocks, whether or not the ops were traced: what is loaded or run raises. A
    warning takes ``ready`` to ``ready_with_warnings``; it makes nothing known that was not.
    """
    severities = {finding.severity for finding in findings}
    if Severity.ERROR in severities:
        return Verdict.BLOCKED
    if Severity.WARNING in severities and verdict is Verdict.READY:
        return Verdict.READY_WITH_WARNINGS
    return verdict


def _guessed(row: OpRow) -> bool:
    """Whether the model's course hung on a guess: not when its text ends."""
    return bool(row.guesses) and row.role is not Role.BOOKKEEPING
