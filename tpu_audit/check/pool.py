"""Spreads files over processes; one that dies costs the file it was reading, no more."""

from __future__ import annotations

from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.check.classify import kind_of_name
from tpu_audit.check.digest import file_key
from tpu_audit.check.file_check import check_bytes
from tpu_audit.check.processes import allow_deep_code, collector_paused, process_pool
from tpu_audit.check.result import UNREAD, FileResult, Gap
from tpu_audit.check.selection import all_rules
from tpu_audit.check.source import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tpu_audit.rules.rule import Rule

_CHUNK_BYTES = 400_000
_WORTH_BYTES = 300_000
"""Less than this is read sooner than a process is started."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One file to check."""

    number: int
    path: str
    logical: str
    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What holds for all files."""

    codes: tuple[str, ...]
    """Of the rules to run."""
    digest: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """What became of one job."""

    number: int
    result: str
    """Encoded: it goes between processes and into the cache as it is."""
    key: bytes | None
    """Under which it may be remembered; None when it must not be."""


def check_files(
    jobs: Sequence[Job], settings: Settings, *, workers: int, advance: Callable[[int], None]
) -> Iterator[Checked]:
    """Yield what becomes of each job, in no particular order.

    ``advance`` is called with the number of files done.
    """
    chunks = _chunks(jobs)
    if workers < 2 or len(chunks) < 2 or sum(job.size for job in jobs) < _WORTH_BYTES:  # noqa: PLR2004 - nothing to share
        _prepare(settings)
        for chunk in chunks:
            yield from _check_chunk(chunk)
            advance(len(chunk))
        return
    alone = False
    while chunks:
        lost = []
        for chunk, results in _run(chunks, settings, 1 if alone else workers):
            if results is None:
                lost.append(chunk)
            else:
                yield from results
                advance(len(chunk))
        lost.sort(key=chunks.index)
        if lost and alone:
            yield Checked(number=lost.pop(0)[0].number, result=_DIED, key=None)
        # One file a chunk and one process: the next to die is the first that was not done.
        chunks, alone = [[job] for chunk in lost for job in chunk], True


_DIED = FileResult(
    kind=UNREAD, gaps=[Gap("crash", "the interpreter died while reading it")]
).encode()


def _run(
    chunks: Sequence[list[Job]], settings: Settings, workers: int
) -> Iterator[tuple[list[Job], list[Checked] | None]]:
    """Run chunks in a pool; those that were lost when a process died come with None."""
    pool = process_pool(min(workers, len(chunks)), _prepare, settings)
    waiting = {pool.submit(_check_chunk, chunk): chunk for chunk in chunks}
    try:
        for future in as_completed(waiting):
            try:
                yield waiting[future], future.result()
            except BrokenProcessPool:
                yield waiting[future], None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _chunks(jobs: Sequence[Job]) -> list[list[Job]]:
    """Split the jobs, the big files first, so that no process is left with one at the end."""
    chunks: list[list[Job]] = []
    room = 0
    for job in sorted(jobs, key=lambda job: -job.size):
        if room <= 0:
            chunks.append([])
            room = _CHUNK_BYTES
        chunks[-1].append(job)
        room -= job.size + 2000
    return chunks


class _Worker:
    """What a process keeps between chunks."""

    rules: tuple[Rule, ...] = ()
    digest: bytes = b""


def _prepare(settings: Settings) -> None:
    wanted = set(settings.codes)
    _Worker.rules = tuple(rule for rule in all_rules() if rule.code in wanted and rule.checks)
    _Worker.digest = settings.digest
    allow_deep_code()


def _check_chunk(chunk: list[Job]) -> list[Checked]:
    with collector_paused():
        return [_check(job) for job in chunk]


def _check(job: Job) -> Checked:
    data = read_bytes(job.path, kind_of_name(job.logical))
    if isinstance(data, Gap):
        unread = FileResult(kind=UNREAD, gaps=[data])
        return Checked(number=job.number, result=unread.encode(), key=None)
    result = check_bytes(job.logical, data, _Worker.rules)
    # The key is of what was read here: the file may have changed since it was looked up.
    key = file_key(_Worker.digest, job.logical, data)
    return Checked(number=job.number, result=result.encode(), key=key)
