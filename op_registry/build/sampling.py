"""Runs the samples of every op, past those that crash or hang the process."""

from __future__ import annotations

import faulthandler
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from op_registry.build.detached import detached
from op_registry.build.forks import in_fork
from op_registry.build.gradients import may_lose
from op_registry.build.journal import Journal
from op_registry.build.observation import UNFIT, Run
from op_registry.build.observe import observe
from op_registry.build.samples.harvest import harvest
from op_registry.build.samples.sampler import Sampler
from op_registry.build.table import overload_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from op_registry.build.table import Entry

HANG_SECONDS = 15
"""An op that takes longer waits for a device that is not there: all others take milliseconds."""
MOST_DEATHS = 100


def observe_all(table: Mapping[str, Entry]) -> dict[str, list[Run]]:
    """Return the sample runs of every op of ``table``, in the order of their names.

    Each stretch of ops runs in a fork, which starts at once because all is loaded; when one dies,
    the next goes on behind the op that killed it.
    """
    # Threads of a pool do not survive a fork, and the fork would wait for them.
    torch.set_num_threads(1)
    sampler = Sampler(harvest(table))
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder, "runs.jsonl"))
        todo, lost = sorted(table), list[str]()
        while todo:
            in_fork(partial(_run, journal, sampler, table, todo))
            runs, under_way = journal.read()
            if under_way is None:
                return _with_lost(runs, lost)
            todo = todo[todo.index(under_way) + 1 :]
            lost.append(under_way)
            if len(lost) > MOST_DEATHS:
                raise RuntimeError(f"sample runs died {MOST_DEATHS} times, last at {under_way}")
        return _with_lost(runs, lost)


def _run(
    journal: Journal, sampler: Sampler, table: Mapping[str, Entry], todo: Sequence[str]
) -> None:
    for op in todo:
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        journal.begin(op)
        func = overload_of(op)
        for sample in sampler.samples(op, func) if func is not None else ():
            seen = observe(func, sample, table)
            if may_lose(table[op]):
                seen[op][-1] = replace(seen[op][-1], detached=detached(func, sample))
            journal.add(seen)
    faulthandler.cancel_dump_traceback_later()
    journal.end()


def _with_lost(runs: dict[str, list[Run]], lost: list[str]) -> dict[str, list[Run]]:
    for op in lost:
        runs.setdefault(op, []).append(Run(leaves={}, error=UNFIT))
    return runs
