"""Runs work in a fork of this process, which may crash or hang without harm to this one."""

from __future__ import annotations

import os
import resource
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_FATAL = (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS, signal.SIGILL)


def in_fork(work: Callable[[], None], errors: Path | None = None) -> int:
    """Run ``work`` in a fork and return how that ended: 0, an exit code, or minus a signal.

    What it says on standard error goes to the file ``errors``, if one is given.

    A fork starts at once because all is loaded; but threads of a pool do not survive it, so this
    process must not have started any.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 70
    try:
        _die_quietly()
        if errors is not None:
            os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        work()
        code = 0
    finally:
        os._exit(code)


def _die_quietly() -> None:
    """Undo the handlers that would print and dump for seconds before the end."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for fatal in _FATAL:
        signal.signal(fatal, signal.SIG_DFL)
