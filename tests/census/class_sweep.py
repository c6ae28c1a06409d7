"""Runs a process for each model type, two at a time, forked from one that is warm."""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING

from tests.census.auto_classes import AutoClass
from tests.census.class_trace import ClassResult, PhaseResult, Work, trace_type
from tests.census.warm import warm_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORKERS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class _Running:
    process: BaseProcess
    classes: list[AutoClass]
    done: list[ClassResult] = field(default_factory=list)


def sweep_classes(
    types: Sequence[list[AutoClass]], work: Work, *, workers: int = WORKERS
) -> Iterator[ClassResult]:
    """Yield a result for every class, as types come to their end."""
    warm_up(work.registry, work.settings)
    waiting = list(reversed(types))
    running: dict[Connection, _Running] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                receiver, one = _start(waiting.pop(), work)
                running[receiver] = one
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                try:
                    running[ready].done.append(ready.recv())
                except EOFError:
                    yield from _ended(running.pop(ready))
                    ready.close()
    finally:
        for one in running.values():
            one.process.kill()


def _start(classes: list[AutoClass], work: Work) -> tuple[Connection, _Running]:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=trace_type, args=(classes, work, sender))
    process.start()
    sender.close()
    return receiver, _Running(process=process, classes=classes)


def _ended(one: _Running) -> Iterator[ClassResult]:
    """Yield what a process sent, and for classes it did not come to, that it crashed."""
    one.process.join()
    yield from one.done
    for lost in one.classes[len(one.done) :]:
        crash = PhaseResult(
            phase="forward",
            error=f"the process of the type ended with code {one.process.exitcode}",
            stage="trace",
            code="crash",
            seconds=0.0,
        )
        yield ClassResult(of=lost, source="", phases=(crash,))
