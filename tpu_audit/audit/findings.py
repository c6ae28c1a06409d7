"""Groups hits into findings: one for each code, op and cause, however many calls show it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tpu_audit.audit.call import Hit
from tpu_audit.audit.detectors import nearest_class, quantised, remote_code
from tpu_audit.audit.sizes import human
from tpu_audit.types.report import Finding, Location, Severity
from tpu_audit.types.trace import SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tpu_audit.audit.call import Call
    from tpu_audit.audit.code import Code
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import TraceSettings

SEVERITIES: tuple[Severity, ...] = (Severity.ERROR, Severity.WARNING, Severity.INFO)
"""Worst first."""

_IMPLIES: Mapping[str, str] = {"TPA911": "TPA910"}
"""A code -> the code that says the same of the same call with less: a size that depends on data
is read by the host, so its finding covers the host sync."""


@dataclass(slots=True)
class _Group:
    """Calls with one code, op and cause."""

    hit: Hit
    severity: Severity
    op: str | None
    count: int = 0
    bytes: int = 0
    modules: dict[str, None] = field(default_factory=dict)
    sources: dict[SourceLine, None] = field(default_factory=dict)

    def add(self, call: Call, hit: Hit) -> None:
        self.count += call.use.count
        self.bytes += hit.bytes
        self.severity = min(self.severity, severity_of(hit), key=SEVERITIES.index)
        self.modules.update(dict.fromkeys(call.use.modules))
        self.sources.update(dict.fromkeys(call.use.sources))


def severity_of(hit: Hit) -> Severity:
    """Return the hit's own severity, or its code's."""
    return hit.severity or hit.code.severity


def without_implied(hits: Iterable[Hit]) -> list[Hit]:
    """Drop the hits of one call that another hit of it says better."""
    kept = list(hits)
    implied = {_IMPLIES[hit.code.code] for hit in kept if hit.code.code in _IMPLIES}
    return [hit for hit in kept if hit.code.code not in implied]


def group(
    hits: Iterable[tuple[Call, Hit]],
    spec: ModelSpec,
    settings: TraceSettings,
    stand_in: str | None = None,
) -> tuple[Finding, ...]:
    """Return the findings of one phase, worst first, then by code and by how often.

    ``stand_in`` is the trace's word on a class that was traced in place of the model's own.
    """
    groups: dict[tuple[str, str | None, str], _Group] = {}
    for call, hit in hits:
        op = call.use.op if hit.about_op else None
        key = (hit.code.code, op, hit.cause)
        if key not in groups:
            groups[key] = _Group(hit=hit, severity=severity_of(hit), op=op)
        groups[key].add(call, hit)
    found = [_finding(g, spec, settings) for g in groups.values()]
    return tuple(sorted((*found, *_of_model(spec, settings, stand_in)), key=_rank))


def _rank(finding: Finding) -> tuple[int, str, int]:
    return SEVERITIES.index(finding.severity), finding.code, -finding.count


def _finding(group: _Group, spec: ModelSpec, settings: TraceSettings) -> Finding:
    hit, modules, sources = group.hit, tuple(group.modules), tuple(group.sources)
    first = sources[0] if sources else None
    return Finding(
        code=hit.code.code,
        severity=group.severity,
        message=_message(group),
        fix=hit.fix or hit.code.fix,
        model=spec.id,
        phase=settings.phase,
        dtype=settings.dtype,
        op=group.op,
        location=Location(
            path=first.path if first else None,
            line=first.line if first else None,
            module=modules[0] if modules else None,
        ),
        count=group.count,
        bytes=group.bytes,
        modules=modules,
        sources=sources,
    )


def _message(group: _Group) -> str:
    op = f"{group.op}: " if group.op else ""
    traffic = group.hit.traffic.format(bytes=human(group.bytes)) if group.hit.traffic else ""
    return f"{op}{group.hit.reason}" + (f". {traffic}" if traffic else "")


def _of_model(spec: ModelSpec, settings: TraceSettings, stand_in: str | None) -> list[Finding]:
    """Return what the config alone shows, and what was built of it."""
    ran = settings.remote_code
    own = remote_code.describe(spec, ran=ran)
    said = (
        (remote_code.CODE, None if stand_in else own, remote_code.fix(ran=ran)),
        (nearest_class.CODE, stand_in, nearest_class.CODE.fix),
        (quantised.CODE, quantised.describe(spec), quantised.CODE.fix),
    )
    return [_about_model(code, text, fix, spec, settings) for code, text, fix in said if text]


def _about_model(
    code: Code, text: str, fix: str, spec: ModelSpec, settings: TraceSettings
) -> Finding:
    return Finding(
        code=code.code,
        severity=code.severity,
        message=text,
        fix=fix,
        model=spec.id,
        phase=settings.phase,
        dtype=settings.dtype,
        op=None,
        location=Location(
            path=f"{spec.component}/config.json" if spec.component else "config.json"
        ),
    )
