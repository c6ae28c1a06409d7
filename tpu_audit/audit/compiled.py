"""Audits what torch.compile made of one phase, beside the eager trace of the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from op_registry.schema import Support
from tpu_audit.audit.detectors import compiled_break, compiled_op, compiled_shape, compiled_step
from tpu_audit.audit.findings import SEVERITIES
from tpu_audit.audit.phase import judge_uses
from tpu_audit.audit.verdict import decide
from tpu_audit.types.report import Finding, Location, OpRow, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.schema import Snapshot
    from tpu_audit.audit.call import Platform
    from tpu_audit.audit.code import Code
    from tpu_audit.types.compiled import CompileTrace
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import SourceLine, Trace

_LACKING = frozenset({Support.MISSING, Support.REJECTED})


@dataclass(frozen=True, kw_only=True, slots=True)
class CompileAudit:
    """What follows from a compilation."""

    rows: tuple[OpRow, ...]
    """Calls of ops that only the graphs make, judged."""
    findings: tuple[Finding, ...]
    """Worst first."""
    verdict: Verdict


def audit_compiled(
    compiled: CompileTrace, eager: Trace, snapshot: Snapshot, spec: ModelSpec, platform: Platform
) -> CompileAudit:
    """Judge ``compiled``; what ``eager``, the trace of the same phase, shows is not repeated."""
    known = {use.op for use in eager.ops}
    extra = [use for use in compiled.ops if use.op not in known]
    rows = judge_uses(extra, snapshot, compiled.settings, platform)
    found = sorted(
        _findings(compiled, rows, spec), key=lambda f: (SEVERITIES.index(f.severity), f.code)
    )
    verdict = Verdict.UNKNOWN if eager.stand_in else decide(rows, found)
    return CompileAudit(rows=rows, findings=tuple(found), verdict=verdict)


def _findings(
    compiled: CompileTrace, rows: tuple[OpRow, ...], spec: ModelSpec
) -> Iterator[Finding]:
    def finding(
        code: Code,
        message: str,
        fix: str,
        *,
        sources: tuple[SourceLine, ...] = (),
        modules: tuple[str, ...] = (),
        count: int = 1,
        op: str | None = None,
    ) -> Finding:
        first = sources[0] if sources else None
        return Finding(
            code=code.code,
            severity=code.severity,
            message=message,
            fix=fix,
            model=spec.id,
            phase=compiled.settings.phase,
            dtype=compiled.settings.dtype,
            op=op,
            location=Location(
                path=first.path if first else None,
                line=first.line if first else None,
                module=modules[0] if modules else None,
            ),
            count=count,
            modules=modules,
            sources=sources,
        )

    for stop in compiled.breaks:
        yield finding(
            compiled_break.CODE,
            compiled_break.describe(stop),
            compiled_break.fix(stop),
            sources=(stop.source,) if stop.source else (),
            modules=(stop.module,) if stop.module is not None else (),
            count=stop.count,
        )
    for again in compiled.recompiles:
        if said := compiled_step.describe(again):
            fix = compiled_step.fix(again, compiled.recompiles)
            yield finding(compiled_step.CODE, said, fix)
        if said := compiled_shape.describe(again):
            yield finding(compiled_shape.CODE, said, compiled_shape.CODE.fix)
    for row in rows:
        if row.support in _LACKING:
            yield finding(
                compiled_op.CODE,
                f"{row.op}: {row.reason}",
                compiled_op.CODE.fix,
                sources=row.sources,
                modules=row.modules,
                count=row.count,
                op=row.op,
            )
