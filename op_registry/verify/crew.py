"""Threads that work tasks off, each with child processes of its own."""

from __future__ import annotations

import contextlib
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from op_registry.verify.hand import Hand

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from op_registry.verify.tasks import Tasks

_TICK_SECONDS = 1.0


def work_off(tasks: Tasks[Hand], python: str, jobs: int, watch: Callable[[], None]) -> None:
    """Do ``tasks`` and all that they add with ``jobs`` threads and children of ``python``.

    ``watch`` is called every second or so. What a task raises is raised here, and so is
    KeyboardInterrupt, after the children have ended.
    """
    hands = [Hand(python) for _ in range(jobs)]
    with ThreadPoolExecutor(jobs, thread_name_prefix="verify") as threads:
        futures = [threads.submit(_work, tasks, hand) for hand in hands]
        try:
            _wait(futures, watch)
        except BaseException:
            tasks.stop()
            for hand in hands:
                hand.kill()
            raise


def _work(tasks: Tasks[Hand], hand: Hand) -> None:
    with contextlib.closing(hand):
        tasks.work(hand)


def _wait(futures: Sequence[Future[None]], watch: Callable[[], None]) -> None:
    going = True
    while going:
        done, open_ = wait(futures, _TICK_SECONDS, FIRST_EXCEPTION)
        for future in done:
            future.result()
        watch()
        going = bool(open_)
