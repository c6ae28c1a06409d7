"""Traces one model type in a process of its own: every phase of its classes."""

from __future__ import annotations

import resource
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from op_registry.schema import Snapshot
from tests.census.auto_classes import AutoClass
from tests.census.class_configs import Candidate
from tpu_audit.types.errors import TpuAuditError
from tpu_audit.types.trace import PHASES, TraceSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

    from tpu_audit.types.trace import Trace

SETTINGS = TraceSettings(seq_len=32, timeout_s=120)
"""Short sequences: a longer one changes sizes, and costs where a model loops over its tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """What to do for each class."""

    configs: Callable[[AutoClass], Iterable[Candidate]]
    """Configs to try, the best first."""
    registry: Snapshot
    phases: Collection[str] = PHASES
    settings: TraceSettings = SETTINGS


@dataclass(frozen=True, kw_only=True, slots=True)
class PhaseResult:
    """One phase of one class."""

    phase: str
    error: str | None = None
    stage: str | None = None
    code: str | None = None
    calls: int = 0
    ops: int = 0
    guesses: int = 0
    parameters: int = 0
    seconds: float
    """CPU time of the tracing process, seconds."""
    spent: float = 0.0
    """CPU time of attempts with other configs before, seconds."""
    mib: int = 0
    """Peak resident memory of any tracing process of this type so far, MiB."""

    @property
    def traced(self) -> bool:
        """Whether it ran to the end."""
        return self.error is None


@dataclass(frozen=True, kw_only=True, slots=True)
class ClassResult:
    """All phases of one class."""

    of: AutoClass
    source: str
    """Where the config came from."""
    phases: tuple[PhaseResult, ...]

    def phase(self, name: str) -> PhaseResult | None:
        """Return one phase, None where it does not apply."""
        return next((one for one in self.phases if one.phase == name), None)

    @property
    def traced(self) -> bool:
        """Whether the forward pass was."""
        forward = self.phase("forward")
        return forward is not None and forward.traced


def trace_type(classes: Iterable[AutoClass], work: Work, sender: Connection) -> None:
    """Send a result for each class; the whole life of a process."""
    from tpu_audit.trace.limits import settle, silence

    silence()
    settle()
    for one in classes:
        sender.send(_trace_class(one, work))
    sender.close()


def _trace_class(one: AutoClass, work: Work) -> ClassResult:
    """Take the first config with which the forward pass is traced, else tell of the last."""
    found = _without_config(one)
    spent = 0.0
    for candidate in work.configs(one):
        if candidate.dtype != "bfloat16" and found.phases[0].stage != "trace":
            continue  # what cannot be built or fed cannot be in another dtype
        _import(one.name)
        forward, traces = _run(candidate, "forward", work)
        found = ClassResult(of=one, source=candidate.source, phases=(forward,))
        if traces:
            rest = _further(one, candidate, set(work.phases) & set(traces[0].applies), work)
            return replace(found, phases=(replace(forward, spent=spent), *rest))
        spent += forward.seconds
    return found


def _without_config(one: AutoClass) -> ClassResult:
    lost = PhaseResult(
        phase="forward",
        error="no config: the default one cannot be made",
        stage="config",
        code="no_config",
        seconds=0.0,
    )
    return ClassResult(of=one, source="", phases=(lost,))


def _import(name: str) -> None:
    """Import the class's module once for all tracing processes; failures show there."""
    import contextlib

    import transformers

    with contextlib.suppress(Exception):
        getattr(transformers, name)


def _further(
    one: AutoClass, candidate: Candidate, applies: set[str], work: Work
) -> Iterator[PhaseResult]:
    if "prefill" in applies:
        yield from _generate(candidate, work)
    if one.head and "train" in applies:
        yield _run(candidate, "train", work)[0]


def _generate(candidate: Candidate, work: Work) -> Iterator[PhaseResult]:
    """Yield prefill and decode, which one run shows; some classes have a single step only."""
    prefill, traces = _run(candidate, "prefill", work)
    yield prefill
    if not traces:
        yield replace(prefill, phase="decode", seconds=0.0)
    for trace in traces[1:]:
        yield _done("decode", trace, seconds=0.0)


def _run(candidate: Candidate, phase: str, work: Work) -> tuple[PhaseResult, tuple[Trace, ...]]:
    """Trace one phase; return what to tell of it, and the traces of all phases that it showed."""
    from tpu_audit.trace.isolate import trace_isolated

    settings = replace(work.settings, phase=phase, dtype=candidate.dtype)
    before = _children()
    try:
        traces = trace_isolated(candidate.spec, settings, work.registry)
    except TpuAuditError as error:
        lost = PhaseResult(
            phase=phase,
            error=error.message,
            stage=str(getattr(error, "stage", "trace")),
            code=getattr(error, "code", None),
            seconds=_children() - before,
            mib=_peak(),
        )
        return lost, ()
    return _done(phase, traces[0], seconds=_children() - before), traces


def _done(phase: str, trace: Trace, *, seconds: float) -> PhaseResult:
    return PhaseResult(
        phase=phase,
        calls=sum(use.count for use in trace.ops),
        ops=len({use.op for use in trace.ops}),
        guesses=sum(use.guesses for use in trace.ops),
        parameters=trace.parameters,
        seconds=seconds,
        mib=_peak(),
    )


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
