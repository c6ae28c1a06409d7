"""The result of each file: remembered ones, and new ones, which are remembered."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tpu_audit.check.cache import ResultCache
from tpu_audit.check.classify import kind_of_name
from tpu_audit.check.digest import file_key
from tpu_audit.check.result import FileResult, Gap
from tpu_audit.check.source import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tpu_audit.check.pool import Checked
    from tpu_audit.check.source import Source


class Progress(Protocol):
    """Is told how far a check has come."""

    def start(self, total: int) -> None:
        """Files there are."""

    def advance(self, done: int) -> None:
        """So many more are done."""


class Silent:
    """Is told, and tells nobody."""

    def start(self, total: int) -> None:
        """Say nothing."""

    def advance(self, done: int) -> None:
        """Say nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall:
    """How results are made and remembered."""

    digest: bytes
    """Stands for all that a result depends on besides the file."""
    codes: Callable[[], tuple[str, ...]]
    """Gives the rules to run; asked only when some file has to be checked."""
    cache_dir: Path | None
    """Where results are remembered; None: nowhere."""
    reuse: bool = True
    """Take remembered results. False still remembers the new ones."""
    jobs: int | None = None
    """Processes to use; None for as many as there are cores."""


def results_of(
    sources: Sequence[Source], recall: Recall, progress: Progress
) -> tuple[list[FileResult], tuple[str, ...]]:
    """Return the result of each file, in their order, and sentences on what went wrong."""
    cache = ResultCache(recall.cache_dir) if recall.cache_dir else None
    asked = cache if cache and recall.reuse and cache.is_there else None
    known = _known(sources, recall.digest, asked) if asked else {}
    unknown = [(number, source) for number, source in enumerate(sources) if number not in known]
    progress.start(len(unknown))
    kept = []
    for checked in _checked(unknown, recall, progress) if unknown else ():
        known[checked.number] = FileResult.decode(checked.result)
        if checked.key:
            kept.append((checked.key, checked.result))
    if cache and kept:
        cache.put(kept)
    notes = (cache.trouble,) if cache and cache.trouble else ()
    return [known[number] for number in range(len(sources))], notes


def _checked(
    sources: Iterable[tuple[int, Source]], recall: Recall, progress: Progress
) -> Iterator[Checked]:
    """Check files; the modules that do are not for runs in which all are known."""
    from tpu_audit.check.pool import Job, Settings, check_files
    from tpu_audit.check.processes import usable_cores

    jobs = [
        Job(number=number, path=source.path, logical=source.logical, size=_size(source.path))
        for number, source in sources
    ]
    settings = Settings(codes=recall.codes(), digest=recall.digest)
    workers = recall.jobs or usable_cores()
    return check_files(jobs, settings, workers=workers, advance=progress.advance)


def _known(sources: Sequence[Source], digest: bytes, cache: ResultCache) -> dict[int, FileResult]:
    keys: dict[int, bytes] = {}
    for number, source in enumerate(sources):
        data = read_bytes(source.path, kind_of_name(source.logical))
        if not isinstance(data, Gap):
            keys[number] = file_key(digest, source.logical, data)
    found = cache.get(list(keys.values()))
    return {number: found[key] for number, key in keys.items() if key in found}


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
