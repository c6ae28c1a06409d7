"""Findings by cause: what one kind of change makes go away, and what to do first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.types.check import CauseGroup
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tpu_audit.types.report import Finding, Location

RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
"""Worst first."""


def grouped(
    findings: Iterable[tuple[Finding, str]], names: Mapping[str, str]
) -> tuple[CauseGroup, ...]:
    """Group pairs of finding and cause; ``names`` are the rules' by code.

    The worst first, then those with most findings.
    """
    groups: dict[tuple[str, Severity, str], list[Finding]] = {}
    for finding, cause in findings:
        key = (finding.code, finding.severity, cause or finding.message)
        groups.setdefault(key, []).append(finding)
    made = [_group(group, names[group[0].code]) for group in groups.values()]
    return tuple(sorted(made, key=lambda group: (RANK[group.severity], -group.count, group.code)))


def _group(findings: list[Finding], name: str) -> CauseGroup:
    first = findings[0]
    return CauseGroup(
        code=first.code,
        name=name,
        severity=first.severity,
        message=first.message,
        fix=first.fix,
        count=len(findings),
        files=len({finding.location.path for finding in findings}),
        fixable=sum(finding.fixable == "safe" for finding in findings),
        places=tuple(place(finding.location) for finding in findings),
    )


def place(location: Location) -> str:
    """Return ``path:line:column``."""
    return f"{location.path}:{location.line}:{location.column}"
