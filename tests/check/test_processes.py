"""Processes: how each one starts."""

from __future__ import annotations

import gc
import signal
import sys

import pytest

from tpu_audit.check.processes import (
    allow_deep_code,
    collector_paused,
    process_pool,
    usable_cores,
)


def prepare(name: str) -> None:
    """Note in the process what it was given."""
    sys.argv[:] = [name]


def started(_: int) -> tuple[list[str], bool]:
    """Return what the process was given, and whether Ctrl-C ends it without words."""
    return sys.argv, signal.getsignal(signal.SIGINT) is signal.SIG_DFL


def test_each_process_is_prepared() -> None:
    """What is given arrives in the process, and Ctrl-C ends it at once; the parent stays."""
    own = signal.getsignal(signal.SIGINT)
    with process_pool(2, prepare, "given") as pool:
        assert list(pool.map(started, range(4))) == [(["given"], True)] * 4
    assert (sys.argv == ["given"], signal.getsignal(signal.SIGINT)) == (False, own)


def test_deep_code_is_allowed_and_nothing_taken_away() -> None:
    """The recursion limit only rises."""
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(900)
        allow_deep_code()
        raised = sys.getrecursionlimit()
        sys.setrecursionlimit(raised + 1)
        allow_deep_code()
        assert (raised > 900, sys.getrecursionlimit()) == (True, raised + 1)
    finally:
        sys.setrecursionlimit(before)


def test_there_is_a_core() -> None:
    """At least the one that runs this."""
    assert usable_cores() >= 1


@pytest.mark.parametrize("enabled", [True, False])
def test_collector_comes_back_as_it_was(enabled: bool) -> None:
    """No garbage is collected in the body; after it, also after an error, all is as before."""
    before = gc.isenabled()
    seen: list[bool] = []

    def fail() -> None:
        with collector_paused():
            seen.append(gc.isenabled())
            raise KeyError

    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(KeyError):
            fail()
        assert (seen, gc.isenabled()) == ([False], enabled)
    finally:
        (gc.enable if before else gc.disable)()
