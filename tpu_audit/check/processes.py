"""Processes that share files between them, and what a process needs to read code."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
_RECURSION = 3000
"""Deep but honest code is analysed; the interpreter's own stack allows several times that."""


def process_pool(workers: int, prepare: Callable[[T], None], given: T) -> ProcessPoolExecutor:
    """Return a pool, each process of which starts by ``prepare(given)``."""
    start = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    return ProcessPoolExecutor(
        max_workers=workers,
        mp_context=multiprocessing.get_context(start),
        initializer=_begin,
        initargs=(prepare, given),
    )


def _begin(prepare: Callable[[T], None], given: T) -> None:
    # Ctrl-C ends a worker at once and without words; the parent says what there is to say.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    prepare(given)
    # Nothing that is there by now is ever garbage.
    gc.freeze()


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Collect no garbage in the body: what is read there has to free itself.

    A syntax tree with what is known of it grows to a million objects that are let go of together.
    Looking for garbage among them while they grow costs a tenth of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def allow_deep_code() -> None:
    """Raise this process's recursion limit to what code that people write needs."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION))


def usable_cores() -> int:
    """Return the number of cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
