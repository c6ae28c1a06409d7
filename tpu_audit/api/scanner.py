"""Walks targets through the corridor: resolve, trace, audit, collect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tpu_audit
from op_registry import loader
from op_registry.errors import RegistryError
from tpu_audit.api.installed import LIBRARIES, tracing_versions
from tpu_audit.api.options import NoProgress, Progress, ScanOptions
from tpu_audit.api.outcome import status
from tpu_audit.api.target import TargetScan
from tpu_audit.types.errors import UsageError
from tpu_audit.types.report import Finding, ModelReport, RegistryInfo, Report, ToolInfo, Versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from op_registry.schema import Snapshot


class ScanInterrupted(KeyboardInterrupt):
    """A scan was interrupted (Ctrl-C); ``report`` holds the targets that were done by then."""

    def __init__(self, report: Report) -> None:
        super().__init__("scan interrupted")
        self.report = report


def scan(
    targets: Sequence[str],
    *,
    options: ScanOptions | None = None,
    progress: Progress | None = None,
) -> Report:
    """Audit ``targets``: hub ids (``org/name``, ``org/name@revision``), folders, config files.

    A target that cannot be audited is in the report with stage and reason; the others go on. A
    target given twice, or two names of one model at one revision, is audited once.
    Raises UsageError (no target, a wrong option or registry), MissingExtraError (no torch or
    transformers), and ScanInterrupted with the partial report on Ctrl-C.

    >>> from tpu_audit import scan
    >>> report = scan(["bert-base-uncased"])  # doctest: +SKIP
    >>> report.models[0].phases[0].verdict  # doctest: +SKIP
    <Verdict.READY: 'ready'>
    """
    if isinstance(targets, str) or not targets:
        raise UsageError("nothing to scan", hint="give a list with at least one target")
    run = _Scan(options or ScanOptions(), progress or NoProgress())
    try:
        run.all(list(dict.fromkeys(targets)))
    except KeyboardInterrupt:
        raise ScanInterrupted(run.report()) from None
    return run.report()


class _Scan:
    """One run: what was decided at its start, and what has been collected."""

    def __init__(self, options: ScanOptions, progress: Progress) -> None:
        _refuse_unknown_rules(options)
        self._versions = tracing_versions(options.tracer, options.tpu_python, options.python)
        self._snapshot = _registry(options.registry, self._versions["torch"])
        self._target = TargetScan(options, self._snapshot, self._versions)
        self._progress = progress
        self._models: dict[tuple[str, str | None], ModelReport] = {}
        self._findings: list[Finding] = []
        self._notes: list[str] = []

    def all(self, targets: list[str]) -> None:
        """Scan ``targets`` in order."""
        self._progress.start(len(targets))
        for target in targets:
            self._progress.model(target)
            model, findings = self._target.scan(target, known=frozenset(self._models))
            kept = self._keep(model, findings)
            self._progress.done(target, status(kept).value)

    def _keep(self, model: ModelReport, findings: tuple[Finding, ...]) -> ModelReport:
        """Collect ``model``, or return the one that it repeats."""
        key = (model.id, model.revision)
        first = self._models.get(key)
        if first is None:
            self._models[key] = model
            self._findings += findings
            return model
        self._notes.append(f"{model.target} is the same model as {first.target}: audited once")
        return first

    def report(self) -> Report:
        """Return what has been collected so far."""
        mismatch = loader.mismatch(self._snapshot, self._versions["torch"])
        notes = (*([mismatch] if mismatch else []), *self._target.notes, *self._notes)
        return Report(
            tool=ToolInfo(version=tpu_audit.__version__),
            versions=self._report_versions(),
            models=tuple(self._models.values()),
            findings=tuple(self._findings),
            notes=tuple(dict.fromkeys(notes)),
        )

    def _report_versions(self) -> Versions:
        snapshot = self._snapshot
        return Versions(
            torch=self._versions["torch"],
            transformers=self._versions.get("transformers"),
            libraries=self._library_versions(),
            registry=RegistryInfo(
                backend=snapshot.backend,
                package=snapshot.package,
                version=snapshot.version,
                torch=snapshot.torch,
                digest=snapshot.digest,
            ),
        )

    def _library_versions(self) -> dict[str, str]:
        models = self._models.values()
        used = {m.library for m in models} | {c.library for m in models for c in m.components}
        return {
            name: self._versions[name] for name in LIBRARIES if name in used & {*self._versions}
        }


def _refuse_unknown_rules(options: ScanOptions) -> None:
    """Raise UsageError for a rule to ignore that does not exist, before anything is traced."""
    if options.check_code and options.ignore:
        from tpu_audit.check.selection import selected  # not without need: it imports all rules

        selected((), options.ignore, preview=False)


def _registry(name: str | None, torch: str) -> Snapshot:
    try:
        return loader.load(name, torch=torch)
    except RegistryError as error:
        raise UsageError(error.message, hint=error.hint) from error
