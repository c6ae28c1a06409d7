"""A pool hands out what its threads find, and leaves nothing running."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time

import pytest

from op_registry.toolchain.pool import run


class Desk:
    """A bench that notes what becomes of it; ``wait`` blocks until it is killed."""

    made: list[Desk]

    def __init__(self) -> None:
        self.killed = threading.Event()
        self.closed = False
        self.made.append(self)

    def wait(self, seconds: float) -> bool:
        """Block like a call of a worker; True when killed meanwhile."""
        return self.killed.wait(seconds)

    def kill(self) -> None:
        """End the wait."""
        self.killed.set()

    def close(self) -> None:
        """Note it."""
        self.closed = True


@pytest.fixture(autouse=True)
def _fresh() -> None:
    Desk.made = []


def test_every_job_comes_back_once() -> None:
    """Results carry their job, none is lost or doubled, and each thread has a bench of its own."""
    found = dict(run(range(100), Desk, lambda _, job: job * job, 3))
    assert found == {job: job * job for job in range(100)}
    assert len(Desk.made) == 3
    assert all(desk.closed for desk in Desk.made)


def test_results_come_as_they_end() -> None:
    """A quick job behind a slow one is not held back."""

    def work(desk: Desk, seconds: float) -> float:
        desk.wait(seconds)
        return seconds

    assert [job for job, _ in run((0.4, 0.0), Desk, work, 2)] == [0.0, 0.4]


def test_two_work_at_once() -> None:
    """Two threads have two jobs under way at the same time: each waits for the other."""
    both = threading.Barrier(2, timeout=10)
    assert len(list(run(range(2), Desk, lambda _, __: both.wait(), 2))) == 2


def test_error_in_the_work_is_raised() -> None:
    """What the work raises reaches the one who iterates, and the others are stopped."""

    def work(desk: Desk, job: int) -> int:
        if job:
            raise ValueError(f"job {job}")
        desk.wait(60)
        return job

    began = time.monotonic()
    with pytest.raises(ValueError, match="job 1"):
        list(run(range(2), Desk, work, 2))
    assert time.monotonic() - began < 10
    assert all(desk.closed for desk in Desk.made)


def test_error_in_the_jobs_is_raised() -> None:
    """A list of jobs that breaks off with an error is no end of the list."""

    def jobs() -> itertools.count[int]:
        raise OSError("the list is gone")

    with pytest.raises(OSError, match="the list is gone"):
        list(run((job for _ in range(1) for job in jobs()), Desk, lambda _, job: job, 2))


def test_bench_that_cannot_be_made() -> None:
    """An error while equipping a thread is raised, not waited on."""

    def equip() -> Desk:
        raise RuntimeError("no tools")

    with pytest.raises(RuntimeError, match="no tools"):
        list(run(range(3), equip, lambda _, job: job, 2))


def test_given_up_half_way() -> None:
    """Who stops iterating ends the work, also of an endless list of jobs."""
    threads = threading.active_count()
    results = run(itertools.count(), Desk, lambda desk, job: desk.wait(0.01) or job, 2)
    assert next(results)
    results.close()  # type: ignore[attr-defined]
    assert threading.active_count() == threads
    assert all(desk.killed.is_set() and desk.closed for desk in Desk.made)


def test_interrupt_ends_the_children() -> None:
    """Ctrl-C while results are awaited kills what is under way and reaches the caller."""
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(run(range(4), Desk, lambda desk, _: desk.wait(60), 2))
    assert time.monotonic() - began < 10
    assert all(desk.killed.is_set() and desk.closed for desk in Desk.made)
