"""One traced phase under torch.compile; what goes wrong with that becomes part of its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.audit.compiled import CompileAudit, audit_compiled
from tpu_audit.types.errors import NotAuditedError, Stage, TpuAuditError, shorten
from tpu_audit.types.report import CompileReport, Finding, Status, Verdict

if TYPE_CHECKING:
    from op_registry.schema import Snapshot
    from tpu_audit.api.tracing import Compiling
    from tpu_audit.audit.call import Platform
    from tpu_audit.types.compiled import CompileTrace
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import Trace, TraceSettings

Compiled = tuple[CompileReport, tuple[Finding, ...]]


def compile_phase(
    compiling: Compiling,
    settings: TraceSettings,
    eager: Trace,
    snapshot: Snapshot,
    spec: ModelSpec,
    platform: Platform,
) -> Compiled:
    """Compile the phase that ``eager`` is the trace of, and judge it."""
    try:
        compiled, cached = compiling.get(settings)
        audit = audit_compiled(compiled, eager, snapshot, spec, platform)
    except NotAuditedError as error:
        return _failed(error), ()
    except TpuAuditError:
        raise  # not this target's fault: the installation cannot compile
    except Exception as error:  # noqa: BLE001 - one target must not take the others along
        return _failed(internal(error, Stage.AUDIT)), ()
    return _report(compiled, audit, cached=cached), audit.findings


def _report(compiled: CompileTrace, audit: CompileAudit, *, cached: bool) -> CompileReport:
    return CompileReport(
        status=Status.TRACED,
        verdict=audit.verdict,
        graphs=compiled.graphs,
        launches=compiled.launches,
        breaks=compiled.breaks,
        recompiles=compiled.recompiles,
        ops=audit.rows,
        assumptions=compiled.assumptions,
        cached=cached,
    )


def _failed(error: NotAuditedError) -> CompileReport:
    return CompileReport(
        status=Status.SKIPPED if error.skipped else Status.FAILED,
        stage=error.stage.value,
        reason=error.message if error.hint is None else f"{error.message}; {error.hint}",
        reason_code=error.code,
        verdict=Verdict.UNKNOWN,
    )


def internal(error: Exception, stage: Stage) -> NotAuditedError:
    """Return an error that nobody foresaw as one of a target's."""
    message = f"an unforeseen error: {shorten(error)}"
    return NotAuditedError(message, stage=stage, code="internal")
