"""How a tracing process may end, as errors of this tool's own."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from tpu_audit.types.errors import NotAuditedError, Stage, TpuAuditError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.types.trace import TraceSettings

_OUT_OF_MEMORY = ("t allocate memory", "cannot allocate memory", "bad_alloc", "not enough memory")


def explained(error: Exception, settings: TraceSettings) -> TpuAuditError:
    """Return ``error`` as one of this tool's own."""
    if any(map(_is_memory, _chain(error))):
        return _memory(settings, f"the trace needed more than {settings.memory_mb} MiB")
    if isinstance(error, TpuAuditError):
        return error
    message = f"the tracer failed: {shorten(error)}"
    return NotAuditedError(message, stage=Stage.TRACE, code="internal")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_memory(error: BaseException) -> bool:
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(words in text for words in _OUT_OF_MEMORY)


def died(exitcode: int | None, settings: TraceSettings) -> NotAuditedError:
    """Tell why a child that gave no answer ended."""
    if exitcode in {-signal.SIGXCPU, -signal.SIGALRM}:
        return timeout(settings)
    if exitcode == -signal.SIGKILL:
        return _memory(settings, "the system killed the tracing process, as it does without memory")
    if exitcode is not None and exitcode < 0:
        how = f"crashed with {signal.Signals(-exitcode).name}"
    else:
        how = f"ended without an answer (exit code {exitcode})"
    return NotAuditedError(f"the tracing process {how}", stage=Stage.TRACE, code="crash")


def timeout(settings: TraceSettings) -> NotAuditedError:
    """Tell of a child that was ended for its time."""
    return NotAuditedError(
        f"tracing took longer than {settings.timeout_s:g} s",
        stage=Stage.TRACE,
        code="timeout",
        hint="raise --timeout, or trace with a smaller --seq-len",
    )


def _memory(settings: TraceSettings, what: str) -> NotAuditedError:
    return NotAuditedError(
        what,
        stage=Stage.TRACE,
        code="memory",
        hint=f"raise --max-memory ({settings.memory_mb} MiB now), or use a smaller --seq-len",
    )
