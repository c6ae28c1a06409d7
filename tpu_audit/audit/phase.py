"""Audits one trace against one registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.audit.call import Call, Hit, Platform
from tpu_audit.audit.codes import DETECTORS
from tpu_audit.audit.detectors import untrained
from tpu_audit.audit.findings import group, without_implied
from tpu_audit.audit.support import DEFAULT, judge
from tpu_audit.audit.verdict import decide
from tpu_audit.types.report import Finding, OpRow, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from op_registry.schema import Hazard, Snapshot
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import OpUse, Trace, TraceSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class PhaseAudit:
    """The judged calls of one phase and what follows from them."""

    rows: tuple[OpRow, ...]
    """One for each distinct call, in the trace's order."""
    findings: tuple[Finding, ...]
    """Worst first."""
    verdict: Verdict


def audit_trace(
    trace: Trace, snapshot: Snapshot, spec: ModelSpec, platform: Platform = DEFAULT
) -> PhaseAudit:
    """Judge every call of ``trace`` by ``snapshot``, on ``platform``.

    ``spec`` is the model that the trace came from.
    """
    rows: list[OpRow] = []
    hits: list[tuple[Call, Hit]] = []
    for use in trace.ops:
        call = _call(use, snapshot, trace.settings, platform)
        found = [hit for detect in DETECTORS if (hit := detect(call))]
        found = untrained.with_parameters(found, call, trace.no_gradient)
        rows.append(_row(call, found))
        hits.extend((call, hit) for hit in without_implied(found))
    untold = untrained.unexplained(trace.no_gradient)
    findings = group(hits, spec, trace.settings, snapshot, untold, trace.stand_in)
    # Calls of another class neither clear the model nor convict it.
    verdict = Verdict.UNKNOWN if trace.stand_in else decide(rows, findings)
    return PhaseAudit(rows=tuple(rows), findings=findings, verdict=verdict)


def judge_uses(
    uses: Iterable[OpUse], snapshot: Snapshot, settings: TraceSettings, platform: Platform
) -> tuple[OpRow, ...]:
    """Judge calls alone: rows in their order, hazards included, without findings."""
    calls = [_call(use, snapshot, settings, platform) for use in uses]
    return tuple(
        _row(call, [hit for detect in DETECTORS if (hit := detect(call))]) for call in calls
    )


def _call(use: OpUse, snapshot: Snapshot, settings: TraceSettings, platform: Platform) -> Call:
    return Call(
        use=use,
        record=snapshot.get(use.op),
        judgement=judge(use, snapshot, platform),
        snapshot=snapshot,
        settings=settings,
        platform=platform,
    )


def _row(call: Call, hits: Iterable[Hit]) -> OpRow:
    use, judgement = call.use, call.judgement
    reasons = _hazard_reasons(hits)
    return OpRow(
        op=use.op,
        count=use.count,
        inputs=use.inputs,
        outputs=use.outputs,
        args=use.args,
        flops=use.flops,
        bytes=use.bytes,
        support=judgement.support,
        hazards=tuple(reasons),
        hazard_reasons=reasons,
        evidence=judgement.evidence,
        random=call.record is not None and call.record.random,
        reason=judgement.reason,
        fallback=judgement.fallback,
        modules=use.modules,
        sources=use.sources,
        guesses=use.guesses,
        role=use.role,
    )


def _hazard_reasons(hits: Iterable[Hit]) -> dict[Hazard, str]:
    """Return hazard -> reason; two reasons for one hazard are joined."""
    reasons: dict[Hazard, str] = {}
    for hit in hits:
        if hit.hazard:
            known = reasons.get(hit.hazard)
            reasons[hit.hazard] = f"{known}; {hit.reason}" if known else hit.reason
    return reasons
