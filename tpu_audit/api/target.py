"""One target through the corridor; whatever goes wrong with it becomes part of its report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tpu_audit.api.code import CheckedCode, check_code
from tpu_audit.audit.call import Platform
from tpu_audit.audit.own_code.weigh import without_repeats
from tpu_audit.audit.phase import PhaseAudit, audit_trace
from tpu_audit.audit.verdict import with_files
from tpu_audit.sources.options import ResolveOptions
from tpu_audit.sources.resolve import resolve
from tpu_audit.trace.cache import TraceCache
from tpu_audit.trace.key import trace_key
from tpu_audit.types.errors import (
    MissingExtraError,
    NotAuditedError,
    Stage,
    TpuAuditError,
    UsageError,
    shorten,
)
from tpu_audit.types.report import Finding, ModelReport, PhaseReport, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from op_registry.schema import Snapshot
    from tpu_audit.api.options import ScanOptions
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import Trace, TraceSettings

Scanned = tuple[ModelReport, tuple[Finding, ...]]


class TargetScan:
    """Scans targets, one at a time, with the same options, registry and cache."""

    def __init__(
        self, options: ScanOptions, snapshot: Snapshot, versions: Mapping[str, str]
    ) -> None:
        self._options = options
        self._snapshot = snapshot
        self._versions = versions
        self._platform = Platform(
            chip=options.chip, reference_kernels=options.with_reference_kernels
        )
        self._cache = TraceCache(options.cache_dir)
        self.notes: list[str] = []
        """Sentences on the run: a cache that cannot be written."""

    def scan(self, target: str, *, known: frozenset[tuple[str, str | None]]) -> Scanned:
        """Audit ``target``; a model whose id and revision are ``known`` is only resolved."""
        try:
            spec = self._resolve(target)
        except NotAuditedError as error:
            phases = [self._failed(dtype, error) for dtype in self._options.dtypes]
            return ModelReport(target=target, id=target, phases=tuple(phases)), ()
        if (spec.id, spec.revision) in known:
            return _model(spec, [], None), ()
        results = [self._phase(spec, dtype) for dtype in self._options.dtypes]
        findings = tuple(f for _, audit, _ in results if audit for f in audit.findings)
        trace = next((trace for _, _, trace in results if trace), None)
        phases = [phase for phase, _, _ in results]
        checked = self._check_code(spec, phases)
        if checked is None:
            return _model(spec, phases, trace), findings
        phases = [replace(p, verdict=with_files(p.verdict, checked.findings)) for p in phases]
        model = replace(_model(spec, phases, trace), code=checked.code)
        return model, (*without_repeats(findings, checked.findings), *checked.findings)

    def _check_code(self, spec: ModelSpec, phases: list[PhaseReport]) -> CheckedCode | None:
        if not self._options.check_code:
            return None
        try:
            checked = check_code(spec, phases, self._options)
        except TpuAuditError:
            raise
        except Exception as error:  # noqa: BLE001 - the audit of the ops stands without it
            self.notes.append(f"the code of {spec.target} was not checked: {shorten(error)}")
            return None
        self.notes += checked.notes if checked else ()
        return checked

    def _resolve(self, target: str) -> ModelSpec:
        options = ResolveOptions(
            revision=self._options.revision,
            offline=self._options.offline,
            cache_dir=self._options.cache_dir,
            refresh=not self._options.use_cache,
        )
        try:
            return resolve(target, options)
        except UsageError as error:
            raise NotAuditedError(
                error.message, stage=Stage.RESOLVE, code="bad_target", hint=error.hint
            ) from error
        except (NotAuditedError, MissingExtraError):
            raise
        except Exception as error:
            raise _internal(error, Stage.RESOLVE) from error

    def _phase(
        self, spec: ModelSpec, dtype: str
    ) -> tuple[PhaseReport, PhaseAudit | None, Trace | None]:
        settings = self._options.settings(dtype)
        stage = Stage.TRACE
        trace = None
        try:
            trace, cached = self._trace(spec, settings)
            stage = Stage.AUDIT
            audit = audit_trace(trace, self._snapshot, spec, self._platform)
        except NotAuditedError as error:
            return self._failed(dtype, error), None, trace
        except TpuAuditError:
            raise  # not this target's fault: the installation cannot trace, or not so
        except Exception as error:  # noqa: BLE001 - one target must not take the others along
            return self._failed(dtype, _internal(error, stage)), None, trace
        return _traced(trace, audit, self._platform, cached=cached), audit, trace

    def _trace(self, spec: ModelSpec, settings: TraceSettings) -> tuple[Trace, bool]:
        """Return the trace and whether it came from the cache."""
        digest = self._snapshot.digest
        key = trace_key(spec, settings, registry_digest=digest, versions=self._versions)
        if spec.factory:
            # What a program does is up to more than its file: nothing here could name it.
            return self._run(spec, settings), False
        if self._options.use_cache and (known := self._cache.get(key)):
            return known, True
        trace = self._run(spec, settings)
        if note := self._cache.put(key, trace):
            self.notes.append(note)
        return trace, False

    def _run(self, spec: ModelSpec, settings: TraceSettings) -> Trace:
        if settings.tracer == "torch_tpu":
            from tpu_audit.trace.oracle import run_trace_torch_tpu

            python = self._options.tpu_python
            return run_trace_torch_tpu(spec, settings, self._snapshot.digest, python)
        from tpu_audit.trace.isolate import trace_isolated

        return trace_isolated(spec, settings, self._snapshot)

    def _failed(self, dtype: str, error: NotAuditedError) -> PhaseReport:
        settings = self._options.settings(dtype)
        return PhaseReport(
            phase=settings.phase,
            dtype=dtype,
            status=Status.SKIPPED if error.skipped else Status.FAILED,
            stage=error.stage.value,
            reason=error.message if error.hint is None else f"{error.message}; {error.hint}",
            reason_code=error.code,
            verdict=Verdict.UNKNOWN,
            batch=settings.batch,
            seq_len=settings.seq_len,
            tracer=settings.tracer,
            chip=self._platform.chip,
            reference_kernels=self._platform.reference_kernels,
        )


def _traced(trace: Trace, audit: PhaseAudit, platform: Platform, *, cached: bool) -> PhaseReport:
    settings = trace.settings
    return PhaseReport(
        phase=settings.phase,
        dtype=settings.dtype,
        status=Status.TRACED,
        verdict=audit.verdict,
        ops=audit.rows,
        cpu_ops=trace.cpu_ops,
        batch=settings.batch,
        seq_len=settings.seq_len,
        tracer=settings.tracer,
        chip=platform.chip,
        reference_kernels=platform.reference_kernels,
        assumptions=trace.assumptions,
        cached=cached,
    )


def _model(spec: ModelSpec, phases: list[PhaseReport], trace: Trace | None) -> ModelReport:
    return ModelReport(
        target=spec.target,
        id=spec.id,
        revision=spec.revision,
        config_source=spec.config_source,
        library=spec.library,
        model_type=spec.model_type,
        architecture=trace.architecture if trace else spec.architecture,
        parameters=trace.parameters if trace else None,
        redirected_from=spec.redirected_from,
        notes=spec.notes,
        phases=tuple(phases),
    )


def _internal(error: Exception, stage: Stage) -> NotAuditedError:
    message = f"an unforeseen error: {shorten(error)}"
    return NotAuditedError(message, stage=stage, code="internal")
