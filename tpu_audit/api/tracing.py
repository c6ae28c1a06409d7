"""The traces and compilations of one target: from the cache, or from a run.

One run may show other phases too.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from tpu_audit.api.installed import is_other, versions_for
from tpu_audit.trace.key import trace_key
from tpu_audit.types.compiled import CompileTrace
from tpu_audit.types.errors import NotAuditedError
from tpu_audit.types.model import runs_own_code
from tpu_audit.types.trace import Trace, TraceSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from op_registry.schema import Snapshot
    from tpu_audit.api.options import ScanOptions
    from tpu_audit.trace.elsewhere import Worker
    from tpu_audit.types.model import ModelSpec

_TOGETHER = {"prefill": "generation", "decode": "generation"}
"""Phases that one run shows: when it fails for one, it fails for the other."""


class _Result(Protocol):
    """What a run gives, one a phase."""

    @property
    def settings(self) -> TraceSettings:
        """How the phase was run."""


T = TypeVar("T", bound=_Result)


class _Kept(Protocol[T]):
    """A cache of such results."""

    def get(self, key: str) -> T | None:
        """Return a result, if it is there."""

    def put(self, key: str, result: T) -> str | None:
        """Keep a result; or say why not."""


class _Runs(ABC, Generic[T]):
    """Results of one model. ``note`` is told what the user should know of the cache."""

    def __init__(
        self,
        spec: ModelSpec,
        options: ScanOptions,
        snapshot: Snapshot,
        versions: Mapping[str, str],
        cache: _Kept[T],
        note: Callable[[str], None],
    ) -> None:
        self._spec = spec
        self._options = options
        self._snapshot = snapshot
        self._versions = versions
        self._cache = cache
        self._note = note
        self._shown: dict[str, T] = {}
        self._failed: dict[tuple[str, str], NotAuditedError] = {}

    def get(self, settings: TraceSettings) -> tuple[T, bool]:
        """Return the result that ``settings`` ask for, and whether it came from the cache."""
        if self._options.trust_remote_code and runs_own_code(self._spec):
            settings = replace(settings, remote_code=True)
        if self._spec.factory:
            # What a program does is up to more than its file: nothing here could name it.
            return self._run(settings)[0], False
        key = self._key(settings)
        if shown := self._shown.get(key):
            return shown, False
        if self._options.use_cache and (known := self._cache.get(key)):
            return known, True
        return self._fresh(settings), False

    def _fresh(self, settings: TraceSettings) -> T:
        run = (settings.dtype, _TOGETHER.get(settings.phase, settings.phase))
        if error := self._failed.get(run):
            raise error
        try:
            results = self._run(settings)
        except NotAuditedError as error:
            self._failed[run] = error
            raise
        for result in results:
            self._keep(result)
        return results[0]

    def _keep(self, result: T) -> None:
        key = self._key(result.settings)
        self._shown[key] = result
        if note := self._cache.put(key, result):
            self._note(note)

    def _key(self, settings: TraceSettings) -> str:
        digest = self._snapshot.digest
        versions = versions_for(self._spec.library, self._versions)
        return trace_key(self._spec, settings, registry_digest=digest, versions=versions)

    @abstractmethod
    def _run(self, settings: TraceSettings) -> tuple[T, ...]:
        """Run the phase: its result first, then others that it showed. Raises NotAuditedError."""


class Tracing(_Runs[Trace]):
    """Traces of one model."""

    def _run(self, settings: TraceSettings) -> tuple[Trace, ...]:
        if settings.tracer == "torch_tpu":
            from tpu_audit.trace.oracle import run_trace_torch_tpu

            python = self._options.tpu_python
            return run_trace_torch_tpu(self._spec, settings, self._snapshot.digest, python)
        if worker := _worker(self._options, settings):
            from tpu_audit.trace.elsewhere import trace_elsewhere

            return trace_elsewhere(self._spec, settings, self._snapshot, worker)
        from tpu_audit.trace.isolate import trace_isolated

        return trace_isolated(self._spec, settings, self._snapshot)


class Compiling(_Runs[CompileTrace]):
    """What ``torch.compile`` makes of one model, on the pretended device whatever the tracer."""

    def _run(self, settings: TraceSettings) -> tuple[CompileTrace, ...]:
        if worker := _worker(self._options, settings):
            from tpu_audit.trace.elsewhere import compile_elsewhere

            return compile_elsewhere(self._spec, settings, self._snapshot, worker)
        from tpu_audit.trace.isolate import compile_isolated

        return compile_isolated(self._spec, settings, self._snapshot)


def _worker(options: ScanOptions, settings: TraceSettings) -> Worker | None:
    """Return the process to trace in where a fork of this one will not do."""
    other = options.python if is_other(options.python) else None
    if not settings.remote_code and other is None:
        return None
    from tpu_audit.trace.elsewhere import Worker

    return Worker(python=other or sys.executable, confined=settings.remote_code)
