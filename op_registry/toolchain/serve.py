"""The child's side of a worker: answers JSON requests, one a line, until its parent is gone."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import resource
import select
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Handle: TypeAlias = "Callable[[dict[str, Any]], dict[str, Any]]"

_FATAL = (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS, signal.SIGILL)


def serve(prepare: Callable[[], Handle]) -> None:
    """Answer the requests on standard input with the function that ``prepare`` returns.

    ``prepare`` does what is slow: imports, a first use of a library. A request that raises is
    answered with the error. The first argument of the program, if any, is the parent's lifeline.
    """
    requests, replies = _claim_pipes()
    if len(sys.argv) > 1:
        _die_with(int(sys.argv[1]))
    try:
        handle = prepare()
    except Exception as error:  # noqa: BLE001 - the parent is told, whatever it is
        _send(replies, {"broken": _text(error)})
        return
    _die_quietly()
    _send(replies, {"ready": os.getpid()})
    for line in requests:
        _send(replies, _answer(handle, json.loads(line)))


def _claim_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes to oneself: libraries print to descriptor 1, and some read from 0."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def _die_with(lifeline: int) -> None:
    """Have the kernel end this whole process group when the parent's end of ``lifeline`` closes.

    The end of standard input is only seen between two requests, and the parent's death signal
    would come at the end of the thread that started this process.
    """
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
    flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)  # SIGIO, which ends a process
    if select.select([lifeline], [], [], 0)[0]:
        sys.exit("the parent ended before its child was up")


def _die_quietly() -> None:
    """Leave no core file, and undo the handlers of libraries that dump stacks for seconds."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for fatal in _FATAL:
        signal.signal(fatal, signal.SIG_DFL)
    with contextlib.suppress(OSError):
        # When memory runs out this process goes, not its parent.
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")


def _answer(handle: Handle, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"done": handle(request)}
    except Exception as error:  # noqa: BLE001 - a request may raise anything; it costs itself only
        return {"failed": _text(error)}


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _send(replies: BinaryIO, answer: dict[str, Any]) -> None:
    replies.write(json.dumps(answer).encode() + b"\n")
    replies.flush()
