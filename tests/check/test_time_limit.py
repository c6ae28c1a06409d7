"""Limits on the CPU time of one file."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from tests.support.trees import HIT
from tpu_audit.check import file_check
from tpu_audit.check.file_check import check_bytes
from tpu_audit.check.time_limit import OutOfTimeError, time_limit
from tpu_audit.rules import catalogue


def burn(seconds: float) -> None:
    """Use CPU time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_ends_what_takes_too_long() -> None:
    """The body ends near its limit, and the process's own handler is back."""
    before = signal.getsignal(signal.SIGPROF)
    with pytest.raises(OutOfTimeError), time_limit(0.05):
        burn(5)
    assert signal.getsignal(signal.SIGPROF) == before
    burn(0.1)


def test_leaves_others_alone() -> None:
    """What is quick, or runs in another thread, is not touched."""
    with time_limit(0.05):
        pass
    burn(0.1)
    failed: list[BaseException] = []

    def work() -> None:
        try:
            with time_limit(0.01):
                burn(0.05)
        except BaseException as error:  # noqa: BLE001 - looked at below
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failed == []


def test_a_file_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a gap in the report, as any other file that cannot be read."""
    monkeypatch.setattr(file_check, "FILE_S", 0.05)
    monkeypatch.setattr(file_check, "check_module", lambda *_: burn(5))
    (gap,) = check_bytes("a.py", HIT.encode(), catalogue.rules()).gaps

    assert gap.code == "timeout"
