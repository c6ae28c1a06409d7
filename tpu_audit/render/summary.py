"""Sums over a report that more than one format shows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from op_registry.schema import Hazard, Support
from tpu_audit.render.module_paths import collapse
from tpu_audit.types.proof import draws_unproven, rests_on_registration
from tpu_audit.types.report import Finding, OpRow, PhaseReport, Report, Severity, Status
from tpu_audit.types.trace import Role

if TYPE_CHECKING:
    from collections.abc import Iterable

SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFO)
"""Worst first."""
INPUT_ERRORS = frozenset({"bad_target", "not_found", "path_not_found", "revision_not_found"})
"""Reason codes of targets that do not exist: the caller's mistake, not an audit left undone."""
_NUMBER = re.compile(r"\d[\d.,]*( [KMGTP]?i?B\b)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What some calls cost together."""

    calls: int = 0
    flops: int = 0
    """Floating-point operations where torch's counter knows them."""
    uncounted: int = 0
    """Calls whose FLOPs are not known."""
    bytes: int = 0

    @classmethod
    def of(cls, rows: Iterable[OpRow]) -> Cost:
        """Add the rows up."""
        calls = flops = uncounted = size = 0
        for row in rows:
            calls += row.count
            size += row.bytes
            if row.flops is None:
                uncounted += row.count
            else:
                flops += row.flops
        return cls(calls=calls, flops=flops, uncounted=uncounted, bytes=size)


def by_support(phase: PhaseReport) -> dict[Support, Cost]:
    """Return the cost behind each support, ``native`` always among them."""
    costs = {support: [row for row in phase.ops if row.support is support] for support in Support}
    return {
        support: Cost.of(rows)
        for support, rows in costs.items()
        if rows or support is Support.NATIVE
    }


def by_role(phase: PhaseReport) -> dict[Role, int]:
    """Return how many calls each role issued, of those that issued any."""
    calls = {role: sum(r.count for r in phase.ops if r.role is role) for role in Role}
    return {role: count for role, count in calls.items() if count}


def by_hazard(phase: PhaseReport) -> dict[Hazard, Cost]:
    """Return the cost behind each hazard that was met; one call may carry several."""
    rows = {hazard: [row for row in phase.ops if hazard in row.hazards] for hazard in Hazard}
    return {hazard: Cost.of(found) for hazard, found in rows.items() if found}


def registered_only(phase: PhaseReport) -> int:
    """Return the calls that rest on registration alone; those that draw random numbers apart."""
    return sum(row.count for row in phase.ops if rests_on_registration(row))


def random_calls(phase: PhaseReport) -> int:
    """Return the calls that draw random numbers, so that registration is all one can see."""
    return sum(row.count for row in phase.ops if draws_unproven(row))


def severities(findings: Iterable[Finding]) -> dict[Severity, int]:
    """Count findings by severity, worst first, zeros included."""
    found = [finding.severity for finding in findings]
    return {severity: found.count(severity) for severity in SEVERITIES}


def not_audited(phases: Iterable[PhaseReport]) -> list[PhaseReport]:
    """Return the phases that failed or were skipped."""
    return [phase for phase in phases if phase.status is not Status.TRACED]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """Findings with one cause: the same code and sentence, about whichever ops."""

    code: str
    severity: Severity
    ops: tuple[str, ...]
    message: str
    """The sentence without the op it begins with."""
    fix: str
    calls: int
    """Calls of ops; places where files are what it is about."""
    in_files: bool
    """It is about the model's files, not about its ops."""
    models: tuple[str, ...]
    modules: tuple[str, ...]
    """Collapsed module paths."""
    lines: tuple[str, ...]
    """``path:line,line`` of the code that issued the calls, one entry a file."""


def causes(report: Report) -> list[Cause]:
    """Group the findings by cause: the worst first, then those with most calls.

    The same sentence is one cause whichever the op, the model and the dtype; the sizes in it are
    the models' own.
    """
    groups: dict[tuple[str, Severity, str, str], list[Finding]] = {}
    for finding in report.findings:
        sentence = finding.cause or _NUMBER.sub("#", _sentence(finding))
        key = (finding.code, finding.severity, sentence, "" if finding.cause else finding.fix)
        groups.setdefault(key, []).append(finding)
    many = len(report.models) > 1
    found = [_cause(group, many=many) for group in groups.values()]
    return sorted(found, key=lambda cause: (SEVERITIES.index(cause.severity), -cause.calls))


def _cause(group: list[Finding], *, many: bool) -> Cause:
    first = group[0]
    return Cause(
        code=first.code,
        severity=first.severity,
        ops=_distinct(finding.op for finding in group if finding.op),
        message=_sentence(first),
        fix=first.fix,
        calls=sum(finding.count for finding in group),
        in_files=first.phase is None,
        models=_distinct(finding.model for finding in group if finding.model),
        modules=collapse(module for finding in group for module in _modules(finding)),
        lines=_by_file(line for finding in group for line in _lines(finding, many=many)),
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _sentence(finding: Finding) -> str:
    return finding.message.removeprefix(f"{finding.op}: ")


def _modules(finding: Finding) -> tuple[str, ...]:
    module = finding.location.module
    return finding.modules or ((module,) if module else ())


def _lines(finding: Finding, *, many: bool) -> list[tuple[str, int | None]]:
    """Return path and line of each place; among ``many`` models a file's says whose it is."""
    place = finding.location
    if finding.sources or place.path is None:
        return [(source.path, source.line) for source in finding.sources]
    whose = f"{finding.model}/" if many and finding.phase is None else ""
    return [(f"{whose}{place.path}", place.line)]


def _by_file(lines: Iterable[tuple[str, int | None]]) -> tuple[str, ...]:
    files: dict[str, set[int]] = {}
    for path, line in lines:
        files.setdefault(path, set()).update(() if line is None else (line,))
    return tuple(
        f"{path}:{','.join(map(str, sorted(numbers)))}" if numbers else path
        for path, numbers in files.items()
    )
