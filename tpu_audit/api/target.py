"""One target through the corridor; whatever goes wrong with it becomes part of its report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from tpu_audit.api.code import CheckedCode, check_code
from tpu_audit.api.compiling import compile_phase, internal
from tpu_audit.api.parts import Part, model_report, named, parts_of
from tpu_audit.api.tracing import Compiling, Tracing
from tpu_audit.audit.call import Platform
from tpu_audit.audit.own_code.weigh import without_repeats
from tpu_audit.audit.phase import PhaseAudit, audit_trace
from tpu_audit.audit.verdict import with_files
from tpu_audit.sources.options import ResolveOptions
from tpu_audit.sources.resolve import resolve
from tpu_audit.trace.cache import CompileCache, TraceCache
from tpu_audit.types.errors import (
    MissingExtraError,
    NotAuditedError,
    Stage,
    TpuAuditError,
    UsageError,
    shorten,
)
from tpu_audit.types.report import Finding, ModelReport, PhaseReport, Status, Verdict
from tpu_audit.types.trace import GENERATION, PHASES, variant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from op_registry.schema import Snapshot
    from tpu_audit.api.options import ScanOptions
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import Trace, TraceSettings

Scanned = tuple[ModelReport, tuple[Finding, ...]]


class _Result(NamedTuple):
    """One phase, with what it was made from."""

    report: PhaseReport
    findings: tuple[Finding, ...]
    trace: Trace | None


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
        self._compile_cache = CompileCache(options.cache_dir)
        self.notes: list[str] = []
        """Sentences on the run: a cache that cannot be written."""

    def scan(self, target: str, *, known: frozenset[tuple[str, str | None]]) -> Scanned:
        """Audit ``target``; a model whose id and revision are ``known`` is only resolved."""
        try:
            spec = self._resolve(target)
        except NotAuditedError as error:
            first = (self._options.asked_phases() or PHASES)[0]
            asked = [self._options.settings(dtype, first) for dtype in self._options.dtypes]
            phases = [self._failed(settings, error) for settings in asked]
            return ModelReport(target=target, id=target, phases=tuple(phases)), ()
        if (spec.id, spec.revision) in known:
            return model_report(spec, []), ()
        parts = [named(self._part(part)) for part in parts_of(spec)]
        findings = tuple(finding for part in parts for finding in part.findings)
        model = model_report(spec, parts)
        checked = self._check_code(spec, model.phases)
        return (model, findings) if checked is None else _with_code(model, findings, checked)

    def _part(self, spec: ModelSpec) -> Part:
        """Trace and audit one model in every dtype."""
        tracing = Tracing(
            spec,
            self._options,
            self._snapshot,
            self._versions,
            self._cache,
            self.notes.append,
        )
        results = [
            r for dtype in self._options.dtypes for r in self._all_phases(tracing, spec, dtype)
        ]
        if self._options.compiled:
            results = self._compiled(results, spec)
        return Part(
            spec=spec,
            phases=tuple(result.report for result in results),
            findings=tuple(finding for result in results for finding in result.findings),
            trace=next((result.trace for result in results if result.trace), None),
        )

    def _compiled(self, results: list[_Result], spec: ModelSpec) -> list[_Result]:
        """Add what torch.compile makes of each phase that was traced."""
        compiling = Compiling(
            spec,
            self._options,
            self._snapshot,
            self._versions,
            self._compile_cache,
            self.notes.append,
        )
        done = []
        for report, findings, trace in results:
            if trace is None or report.status is not Status.TRACED:
                done.append(_Result(report, findings, trace))
                continue
            settings = self._options.settings(report.dtype, trace.settings.phase)
            compiled, more = compile_phase(
                compiling, settings, trace, self._snapshot, spec, self._platform
            )
            done.append(_Result(replace(report, compiled=compiled), (*findings, *more), trace))
        return done

    def _all_phases(self, tracing: Tracing, spec: ModelSpec, dtype: str) -> list[_Result]:
        """Trace and audit what was asked for, or what applies to the class."""
        asked = self._options.asked_phases()
        if asked:
            return [self._phase(tracing, spec, dtype, phase) for phase in asked]
        first = self._phase(tracing, spec, dtype, PHASES[0])
        others = self._others(first, whole=spec.component is None)
        results = [self._phase(tracing, spec, dtype, phase) for phase in others]
        if first.report.reason_code == "no_forward" and any(r.trace for r in results):
            return results
        return [first, *results]

    def _others(self, first: _Result, *, whole: bool) -> list[str]:
        """Return the phases to trace after the first; no part of a pipeline generates."""
        known = PHASES[1:] if whole else ("train",)
        if first.trace:
            return [p for p in first.trace.applies if p in known and self._wants(p)]
        # Some classes have nothing but their generate().
        return list(GENERATION) if whole and first.report.reason_code == "no_forward" else []

    def _wants(self, phase: str) -> bool:
        return phase != "train" or self._options.train

    def _check_code(self, spec: ModelSpec, phases: Iterable[PhaseReport]) -> CheckedCode | None:
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
            raise internal(error, Stage.RESOLVE) from error

    def _phase(self, tracing: Tracing, spec: ModelSpec, dtype: str, phase: str) -> _Result:
        settings = self._options.settings(dtype, phase)
        stage = Stage.TRACE
        trace = None
        try:
            trace, cached = tracing.get(settings)
            stage = Stage.AUDIT
            audit = audit_trace(trace, self._snapshot, spec, self._platform)
        except NotAuditedError as error:
            return _Result(self._failed(settings, error), (), trace)
        except TpuAuditError:
            raise  # not this target's fault: the installation cannot trace, or not so
        except Exception as error:  # noqa: BLE001 - one target must not take the others along
            return _Result(self._failed(settings, internal(error, stage)), (), trace)
        report = _traced(trace, audit, self._platform, cached=cached)
        return _Result(report, audit.findings, trace)

    def _failed(self, settings: TraceSettings, error: NotAuditedError) -> PhaseReport:
        return PhaseReport(
            phase=settings.phase,
            dtype=settings.dtype,
            status=Status.SKIPPED if error.skipped else Status.FAILED,
            stage=error.stage.value,
            reason=error.message if error.hint is None else f"{error.message}; {error.hint}",
            reason_code=error.code,
            verdict=Verdict.UNKNOWN,
            batch=settings.batch,
            seq_len=settings.seq_len,
            tracer=settings.tracer,
            variant=variant(settings),
            chip=self._platform.chip,
            reference_kernels=self._platform.reference_kernels,
        )


def _with_code(model: ModelReport, findings: tuple[Finding, ...], checked: CheckedCode) -> Scanned:
    """Add what the model's own files say, and what it makes of the verdicts."""
    phases = tuple(
        replace(phase, verdict=with_files(phase.verdict, checked.findings))
        for phase in model.phases
    )
    whole = replace(model, phases=phases, code=checked.code)
    return whole, (*without_repeats(findings, checked.findings), *checked.findings)


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
        variant=variant(settings),
        chip=platform.chip,
        reference_kernels=platform.reference_kernels,
        assumptions=trace.assumptions,
        stand_in=trace.stand_in,
        cached=cached,
    )
