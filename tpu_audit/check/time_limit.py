"""A limit on the CPU time of one file: generated code may cost an analysis hours."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

FILE_S = 20.0
"""CPU seconds that checking a file may take; a large hand-written one takes one or two."""


class OutOfTimeError(Exception):
    """The time is over."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``OutOfTimeError`` in the body after ``seconds`` of CPU time.

    Without effect outside a process's main thread and where there are no timers.
    """
    timer = getattr(signal, "ITIMER_PROF", None)
    if timer is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(signal.SIGPROF, before)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise OutOfTimeError
