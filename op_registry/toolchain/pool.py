"""Runs jobs over several workers, and hands out each result as it comes."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class Bench(Protocol):
    """What a thread of the pool works with: a ``Worker``, or several under one name."""

    def kill(self) -> None:
        """End the children at once; called from another thread."""

    def close(self) -> None:
        """End the children; called by the thread that worked with them."""


BenchT = TypeVar("BenchT", bound=Bench)
Job = TypeVar("Job")
Result = TypeVar("Result")


def run(
    jobs: Iterable[Job],
    equip: Callable[[], BenchT],
    work: Callable[[BenchT, Job], Result],
    count: int,
) -> Iterator[tuple[Job, Result]]:
    """Yield each job with what ``work`` returned for it, in the order in which they end.

    ``count`` threads take the jobs in order; each works with a bench of its own that ``equip``
    makes. What ``work`` or ``jobs`` raises is raised here. However the iteration ends - also by
    Ctrl-C, and when it is given up half-way - the benches' children are ended first.
    """
    shift = _Shift(iter(jobs), equip, work)
    threads = [threading.Thread(target=shift.work_off) for _ in range(count)]
    try:
        for thread in threads:
            thread.start()
        at_work = count
        while at_work:
            found = shift.results.get()
            if found is None:
                at_work -= 1
            elif isinstance(found, BaseException):
                raise found
            else:
                yield found.job, found.result
    finally:
        shift.stop()
        for thread in threads:
            if thread.ident is not None:
                thread.join()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ended(Generic[Job, Result]):
    job: Job
    result: Result


class _Shift(Generic[BenchT, Job, Result]):
    """What the threads of one run share."""

    def __init__(
        self,
        jobs: Iterator[Job],
        equip: Callable[[], BenchT],
        work: Callable[[BenchT, Job], Result],
    ) -> None:
        self.results: queue.SimpleQueue[_Ended[Job, Result] | BaseException | None]
        self.results = queue.SimpleQueue()
        self._jobs = jobs
        self._equip = equip
        self._work = work
        self._benches: list[BenchT] = []
        self._over = False
        self._lock = threading.Lock()

    def work_off(self) -> None:
        """Work until no job is left; put None at the end, or the error that ended it."""
        try:
            bench = self._equip()
        except BaseException as error:  # noqa: BLE001 - raised again where the results are taken
            self.results.put(error)
            return
        try:
            with self._lock:
                self._benches.append(bench)
            while not self._over:
                with self._lock:
                    job = next(self._jobs)
                self.results.put(_Ended(job=job, result=self._work(bench, job)))
        except StopIteration:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again where the results are taken
            self.results.put(error)
        finally:
            bench.close()
            self.results.put(None)

    def stop(self) -> None:
        """Take no further job, and end what is under way."""
        self._over = True
        with self._lock:
            for bench in self._benches:
                bench.kill()
