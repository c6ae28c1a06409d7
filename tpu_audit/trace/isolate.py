"""Runs a trace in a child process with limits, so that no model can harm the scan.

The parent imports torch, transformers and the tracer once; each trace is a fork of it, which costs
milliseconds and starts from the same clean state. Where forking is not safe the child is spawned
and imports for itself. A child that hangs, crashes or eats memory costs its own trace only.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tpu_audit.trace.endings import died, explained, timeout
from tpu_audit.trace.limits import bound_process, settle, silence
from tpu_audit.types.errors import NotAuditedError, TpuAuditError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from op_registry.schema import Snapshot
    from tpu_audit.types.compiled import CompileTrace
    from tpu_audit.types.model import ModelSpec
    from tpu_audit.types.trace import Trace, TraceSettings

_ENVIRONMENT = {
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",  # an installed torch_tpu would take the device's name
    "TRANSFORMERS_VERBOSITY": "error",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
}
_ENGINE_RAN = "autograd's threading in combination with fork"
"""Torch's refusal of a backward pass in the fork of a process that has run one itself."""
_GRACE_S = 5.0
"""Seconds that a child which closed its pipe has to end."""


def trace_isolated(
    spec: ModelSpec, settings: TraceSettings, registry: Snapshot
) -> tuple[Trace, ...]:
    """Trace ``spec`` on the pretended TPU in a child process.

    Returns the phase that ``settings`` name first, then others that the same run showed.

    Raises NotAuditedError: the tracer's own, or at stage ``trace`` with code ``timeout`` (longer
    than ``settings.timeout_s``), ``memory`` (more than ``settings.memory_mb``), ``crash`` or
    ``internal``; TpuAuditError when this torch cannot trace at all. On any way out, an interrupt
    included, the child is gone.
    """
    traces: tuple[Trace, ...] = _isolated("trace", spec, settings, registry)
    return traces


def compile_isolated(
    spec: ModelSpec, settings: TraceSettings, registry: Snapshot
) -> tuple[CompileTrace, ...]:
    """Compile ``spec`` with Dynamo on the pretended TPU in a child process.

    Returns and raises as :func:`trace_isolated`.
    """
    compiled: tuple[CompileTrace, ...] = _isolated("compile", spec, settings, registry)
    return compiled


_WORK = {
    "trace": ("tpu_audit.trace.runner", "run_trace"),
    "compile": ("tpu_audit.trace.compiling.runner", "run_compile"),
}
"""What a child may be for -> module and function."""


def _isolated(
    work: str, spec: ModelSpec, settings: TraceSettings, registry: Snapshot
) -> tuple[Any, ...]:
    if not _forks():
        return _in_child("spawn", work, spec, settings, registry)
    preload(work)
    try:
        return _in_child("fork", work, spec, settings, registry)
    except NotAuditedError as error:
        if _ENGINE_RAN not in error.message:
            raise
        return _in_child("spawn", work, spec, settings, registry)


def _in_child(
    how: str, work: str, spec: ModelSpec, settings: TraceSettings, registry: Snapshot
) -> tuple[Any, ...]:
    context = multiprocessing.get_context(how)
    receiver, sender = context.Pipe(duplex=False)
    arguments = (sender, work, spec, settings, registry)
    child: BaseProcess = context.Process(  # type: ignore[attr-defined]  # both contexts have it
        target=_run, args=arguments, daemon=True
    )
    try:
        with environment():
            child.start()
        sender.close()
        return _answer(child, receiver, settings)
    finally:
        if child.pid is not None:
            child.kill()
            child.join()
        receiver.close()


def preload(work: str = "trace") -> None:
    """Import what every run of ``work`` needs into this process.

    Problems are left for the child to report.

    Not the model's own module: what that imports depends on the accelerator that it finds, and
    only the child pretends one.
    """
    with environment(), contextlib.suppress(Exception):
        import_module(_WORK[work][0])
        import_module("tpu_audit.trace.libraries.stand_ins").torchvision_ops()
        import_module("transformers.modeling_utils")


@contextlib.contextmanager
def environment() -> Iterator[None]:
    """Set, for a while, what torch and transformers read when they are imported."""
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    os.environ.update(_ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _forks() -> bool:
    """Whether forking is safe: on macOS system libraries break in forked children."""
    return sys.platform == "linux"


def _run(
    sender: Connection,
    work: str,
    spec: ModelSpec,
    settings: TraceSettings,
    registry: Snapshot,
) -> None:
    """Do ``work``, and send what came of it; the whole life of the child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides, and kills
    silence()
    settle()
    bound_process(settings)
    outcome: tuple[Any, ...] | TpuAuditError
    module, function = _WORK[work]
    try:
        outcome = getattr(import_module(module), function)(spec, settings, registry)
    except Exception as error:  # noqa: BLE001 - the parent reports it
        outcome = explained(error, settings)
    sender.send(outcome if isinstance(outcome, tuple) else outcome.fields())
    sender.close()


def _answer(child: BaseProcess, receiver: Connection, settings: TraceSettings) -> tuple[Any, ...]:
    """Wait for the child's outcome: return what it made or raise."""
    if not receiver.poll(settings.timeout_s):
        raise timeout(settings)
    try:
        outcome: tuple[Any, ...] | dict[str, Any] = receiver.recv()
    except EOFError:
        child.join(_GRACE_S)
        raise died(child.exitcode, settings) from None
    if isinstance(outcome, tuple):
        return outcome
    if "stage" in outcome:
        raise NotAuditedError(**outcome)
    raise TpuAuditError(**outcome)
