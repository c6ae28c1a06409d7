"""Groups hits into findings: one for each code, op and cause, however many calls show it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tpu_audit.audit.call import Hit
from tpu_audit.audit.detectors import nearest_class, quantised, remote_code, untrained
from tpu_audit.audit.sizes import human
from tpu_audit.types.report import Finding, Location, Severity
from tpu_audit.types.trace import Role, SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from op_registry.schema import Snapshot
    from tpu_audit.audit.call import Call
    from tpu_audit.audit.code import Code, Said
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import TraceSettings

SEVERITIES: tuple[Severity, ...] = (Severity.ERROR, Severity.WARNING, Severity.INFO)
"""Worst first."""

_IMPLIES: Mapping[str, str] = {"TPA911": "TPA910"}
"""A code -> the code that says the same of the same call with less: a size that depends on data
is read by the host, so its finding covers the host sync."""

_GENERATE = "generate() itself, once a token"
_OUTSIDE = (
    "It is not the model's: a serving stack, or a loop of your own that checks for the end every "
    "few tokens, does without."
)


@dataclass(slots=True)
class _Group:
    """Calls with one code, op and cause."""

    hit: Hit
    severity: Severity
    op: str | None
    role: Role
    count: int = 0
    bytes: int = 0
    modules: dict[str, None] = field(default_factory=dict)
    sources: dict[SourceLine, None] = field(default_factory=dict)

    @property
    def aside(self) -> bool:
        """Whether generation does this around the model, and nothing fails by it."""
        return self.role is Role.BOOKKEEPING and self.severity is Severity.INFO

    def add(self, call: Call, hit: Hit) -> None:
        self.count += call.use.count
        self.bytes += hit.bytes
        self.severity = min(self.severity, _weighed(call, hit), key=SEVERITIES.index)
        self.modules.update(dict.fromkeys(call.use.modules))
        self.sources.update(dict.fromkeys(call.use.sources))


def severity_of(hit: Hit) -> Severity:
    """Return the hit's own severity, or its code's."""
    return hit.severity or hit.code.severity


def _weighed(call: Call, hit: Hit) -> Severity:
    """Return what a hit costs: what generation does around a model is no fault of the model."""
    severity = severity_of(hit)
    outside = call.use.role is Role.BOOKKEEPING and severity is Severity.WARNING
    return Severity.INFO if outside else severity


def without_implied(hits: Iterable[Hit]) -> list[Hit]:
    """Drop the hits of one call that another hit of it says better."""
    kept = list(hits)
    implied = {_IMPLIES[hit.code.code] for hit in kept if hit.code.code in _IMPLIES}
    return [hit for hit in kept if hit.code.code not in implied]


def group(
    hits: Iterable[tuple[Call, Hit]],
    spec: ModelSpec,
    settings: TraceSettings,
    snapshot: Snapshot,
    untold: Said | None = None,
    stand_in: str | None = None,
) -> tuple[Finding, ...]:
    """Return the findings of one phase, worst first, then by code and by how often.

    ``untold`` is what to say of parameters without a gradient that no hit explains, ``stand_in``
    the trace's word on a class that was traced in place of the model's own.
    """
    groups: dict[tuple[str, str | None, str, bool], _Group] = {}
    for call, hit in hits:
        op = call.use.op if hit.about_op else None
        role = call.use.role
        key = (hit.code.code, op, hit.cause, role is Role.BOOKKEEPING)
        if key not in groups:
            groups[key] = _Group(hit=hit, severity=_weighed(call, hit), op=op, role=role)
        groups[key].add(call, hit)
    found = [_finding(g, spec, settings) for g in groups.values()]
    if untold:
        finding = _about_model(untrained.CODE, untold, spec, settings)
        found.append(replace(finding, location=Location()))
    return tuple(sorted((*found, *_of_model(spec, settings, snapshot, stand_in)), key=_rank))


def _rank(finding: Finding) -> tuple[int, str, int]:
    return SEVERITIES.index(finding.severity), finding.code, -finding.count


def _finding(group: _Group, spec: ModelSpec, settings: TraceSettings) -> Finding:
    hit, modules, sources = group.hit, tuple(group.modules), tuple(group.sources)
    first = sources[0] if sources else None
    return Finding(
        code=hit.code.code,
        severity=group.severity,
        message=_message(group),
        fix=_OUTSIDE if group.aside else hit.fix or hit.code.fix,
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
    where = f" ({_GENERATE})" if group.aside else ""
    return f"{op}{group.hit.reason}{where}" + (f". {traffic}" if traffic else "")


def _of_model(
    spec: ModelSpec, settings: TraceSettings, snapshot: Snapshot, stand_in: str | None
) -> list[Finding]:
    """Return what the config alone shows, and which class was built of it."""
    own = remote_code.describe(spec, ran=settings.remote_code)
    said = (
        (nearest_class.CODE, nearest_class.describe(stand_in))
        if stand_in
        else (remote_code.CODE, own),
        (quantised.CODE, quantised.describe(spec, snapshot)),
    )
    return [_about_model(code, found, spec, settings) for code, found in said if found]


def _about_model(code: Code, said: Said, spec: ModelSpec, settings: TraceSettings) -> Finding:
    where = f"{spec.component}/config.json" if spec.component else "config.json"
    return Finding(
        code=code.code,
        severity=said.severity,
        message=said.message,
        fix=said.fix,
        model=spec.id,
        phase=settings.phase,
        dtype=settings.dtype,
        op=None,
        location=Location(path=where),
    )
