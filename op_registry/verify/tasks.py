"""A queue of tasks that threads take in order of urgency, and that tasks add to."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
Urgency = tuple[int, ...]
"""The smallest goes first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task(Generic[T]):
    """One piece of work for a thread, which works with a ``T`` of its own."""

    urgency: Urgency
    stage: str
    key: tuple[str, ...]
    """Two tasks of one stage with the same key are the same task."""
    do: Callable[[T], None]


class Tasks(Generic[T]):
    """The queue; safe for threads. It ends when all tasks are done, or with ``stop``."""

    def __init__(self) -> None:
        self._heap: list[tuple[Urgency, int, Task[T]]] = []
        self._order = itertools.count()
        self._known: set[tuple[str, tuple[str, ...]]] = set()
        self._change = threading.Condition()
        self._open = 0
        self.stopped = False
        self.total: Counter[str] = Counter()
        """Stage -> tasks added so far."""
        self.done: Counter[str] = Counter()
        """Stage -> tasks done so far."""

    def add(self, task: Task[T]) -> None:
        """Queue ``task``, unless it was queued before."""
        with self._change:
            if (task.stage, task.key) in self._known:
                return
            self._known.add((task.stage, task.key))
            heapq.heappush(self._heap, (task.urgency, next(self._order), task))
            self._open += 1
            self.total[task.stage] += 1
            self._change.notify()

    def work(self, mine: T) -> None:
        """Do tasks with ``mine`` until none is left; an error of a task stops all and is raised."""
        while (task := self._take()) is not None:
            try:
                task.do(mine)
            except BaseException:
                self.stop()
                raise
            with self._change:
                self._open -= 1
                self.done[task.stage] += 1
                if not self._open:
                    self._change.notify_all()

    def stop(self) -> None:
        """Give out no more tasks."""
        with self._change:
            self.stopped = True
            self._change.notify_all()

    def _take(self) -> Task[T] | None:
        with self._change:
            while self._open and not self._heap and not self.stopped:
                self._change.wait()
            if self.stopped or not self._heap:
                return None
            return heapq.heappop(self._heap)[2]
