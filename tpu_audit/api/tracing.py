"""The traces of one target: from the cache, or from a run, maybe one for another phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.trace.key import trace_key
from tpu_audit.types.errors import NotAuditedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from op_registry.schema import Snapshot
    from tpu_audit.api.options import ScanOptions
    from tpu_audit.trace.cache import TraceCache
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import Trace, TraceSettings

_TOGETHER = {"prefill": "generation", "decode": "generation"}
"""Phases that one run shows: when it fails for one, it fails for the other."""


class Tracing:
    """Traces of one model. ``note`` is told what the user should know of the cache."""

    def __init__(
        self,
        spec: ModelSpec,
        options: ScanOptions,
        snapshot: Snapshot,
        versions: Mapping[str, str],
        cache: TraceCache,
        note: Callable[[str], None],
    ) -> None:
        self._spec = spec
        self._options = options
        self._snapshot = snapshot
        self._versions = versions
        self._cache = cache
        self._note = note
        self._shown: dict[str, Trace] = {}
        self._failed: dict[tuple[str, str], NotAuditedError] = {}

    def get(self, settings: TraceSettings) -> tuple[Trace, bool]:
        """Return the trace that ``settings`` ask for, and whether it came from the cache."""
        if self._spec.factory:
            # What a program does is up to more than its file: nothing here could name it.
            return self._run(settings)[0], False
        key = self._key(settings)
        if shown := self._shown.get(key):
            return shown, False
        if self._options.use_cache and (known := self._cache.get(key)):
            return known, True
        return self._fresh(settings), False

    def _fresh(self, settings: TraceSettings) -> Trace:
        run = (settings.dtype, _TOGETHER.get(settings.phase, settings.phase))
        if error := self._failed.get(run):
            raise error
        try:
            traces = self._run(settings)
        except NotAuditedError as error:
            self._failed[run] = error
            raise
        for trace in traces:
            self._keep(trace)
        return traces[0]

    def _keep(self, trace: Trace) -> None:
        key = self._key(trace.settings)
        self._shown[key] = trace
        if note := self._cache.put(key, trace):
            self._note(note)

    def _key(self, settings: TraceSettings) -> str:
        digest = self._snapshot.digest
        return trace_key(self._spec, settings, registry_digest=digest, versions=self._versions)

    def _run(self, settings: TraceSettings) -> tuple[Trace, ...]:
        if settings.tracer == "torch_tpu":
            from tpu_audit.trace.oracle import run_trace_torch_tpu

            python = self._options.tpu_python
            return run_trace_torch_tpu(self._spec, settings, self._snapshot.digest, python)
        from tpu_audit.trace.isolate import trace_isolated

        return trace_isolated(self._spec, settings, self._snapshot)
