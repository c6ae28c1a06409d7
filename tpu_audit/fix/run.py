"""Repairs paths: the checker finds what to repair, then each such file is repaired."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tpu_audit.check.discover import discover
from tpu_audit.check.options import CheckOptions
from tpu_audit.check.processes import (
    allow_deep_code,
    collector_paused,
    process_pool,
    usable_cores,
)
from tpu_audit.check.result import Gap
from tpu_audit.check.run import check
from tpu_audit.check.selection import per_file, selected
from tpu_audit.check.source import Source, read_bytes
from tpu_audit.fix.file_fix import FileFix, Wish, repair_bytes
from tpu_audit.fix.write import write_bytes
from tpu_audit.rules.edits import Applicability

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tpu_audit.check.recall import Progress


_WORTH_FILES = 8
"""Fewer are repaired sooner than a process is started."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fixed:
    """One file that changes."""

    path: str
    """As reports name it."""
    place: str
    """Where it is."""
    result: FileFix


@dataclass(frozen=True, kw_only=True, slots=True)
class FixReport:
    """What a repair does."""

    files: tuple[Fixed, ...]
    """Files that change, in order, and those with refused repairs."""
    unsafe: int
    """Findings left that --unsafe-fixes would repair."""
    left: int
    """Findings that nothing repairs."""
    notes: tuple[str, ...] = ()


def fix(
    paths: Sequence[str],
    *,
    options: CheckOptions,
    unsafe: bool = False,
    write: bool = False,
    progress: Progress | None = None,
) -> FixReport:
    """Repair files, on disk only when ``write`` is true.

    Raises UsageError as ``check`` does, and when a file cannot be written.
    """
    found = check(paths, options=replace(options, diff_base=None), progress=progress)
    names = {
        finding.location.path
        for finding in found.findings
        if finding.fixable == "safe" or (unsafe and finding.fixable == "unsafe")
    }
    listed = discover(paths, excludes=options.exclude, respect_gitignore=options.respect_gitignore)
    sources = [source for source in listed.sources if source.shown in names]
    kinds = {Applicability.SAFE} | ({Applicability.UNSAFE} if unsafe else set())
    job = _Job(options=options, applicable=frozenset(kinds))
    files = tuple(_repaired(sources, job, options.jobs or usable_cores()))
    for one in files:
        if write and one.result.after != one.result.before:
            write_bytes(one.place, one.result.before, one.result.after)
    done = sum(one.result.applied.total() for one in files)
    waiting = 0 if unsafe else sum(f.fixable == "unsafe" for f in found.findings)
    left = max(len(found.findings) - done - waiting, 0)
    return FixReport(files=files, unsafe=waiting, left=left, notes=found.notes)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Job:
    options: CheckOptions
    applicable: frozenset[Applicability]


class _Worker:
    """What a process keeps between files."""

    wish = Wish(rules=(), applicable=frozenset())


def _repaired(sources: Sequence[Source], job: _Job, workers: int) -> Iterator[Fixed]:
    for source, result in zip(sources, _results(sources, job, workers), strict=True):
        if result.after != result.before or result.refused:
            yield Fixed(path=source.shown, place=source.path, result=result)


def _results(sources: Sequence[Source], job: _Job, workers: int) -> Iterator[FileFix]:
    if len(sources) < _WORTH_FILES or workers == 1:
        _start(job)
        yield from map(_repair, sources)
        return
    with process_pool(min(workers, len(sources)), _start, job) as pool:
        yield from pool.map(_repair, sources, chunksize=4)


def _start(job: _Job) -> None:
    allow_deep_code()
    options = job.options
    rules = selected(options.select, options.ignore, preview=options.preview)
    exceptions = per_file(options.per_file_ignores)
    _Worker.wish = Wish(rules=rules, applicable=job.applicable, exceptions=exceptions)


def _repair(source: Source) -> FileFix:
    data = read_bytes(source.path, None)
    if isinstance(data, Gap):
        return FileFix(before=b"", after=b"")
    with collector_paused():
        return repair_bytes(source.logical, data, _Worker.wish)
