"""Scans many configs through the Python API: a few worker processes, each model on its own."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.census.outcome import Outcome, outcome_of
from tpu_audit.api import ScanOptions, scan
from tpu_audit.types.report import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORKERS = 2
_PATIENCE_S = 20.0
"""Seconds beyond the trace's own limit after which a scan counts as hung."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What one model may take."""

    seconds: float
    memory_mib: int


class HungError(BaseException):
    """A scan outlived its limits. Not an Exception, so that nothing on the way swallows it."""


def config_paths(folder: Path) -> list[Path]:
    """Return every ``config.json`` under ``folder``, in order of their names."""
    return sorted(folder.rglob("config.json"))


def name_of(path: Path, folder: Path) -> str:
    """Return ``org/model`` or ``org/model/component`` for a config in hub layout."""
    return path.parent.relative_to(folder).as_posix()


def sweep(
    paths: Sequence[Path], folder: Path, limits: Limits, *, workers: int = WORKERS
) -> Iterator[Outcome]:
    """Scan ``paths`` without a cache and yield their outcomes in the same order."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_start) as pool:
        yield from pool.map(_judge, paths, [folder] * len(paths), [limits] * len(paths))


def _start() -> None:
    """Keep the cores for the models: each worker traces one at a time."""
    os.environ["OMP_NUM_THREADS"] = "1"
    signal.signal(signal.SIGALRM, _hung)


def _hung(*_: Any) -> None:
    raise HungError


def _judge(path: Path, folder: Path, limits: Limits) -> Outcome:
    """Scan one config; an exception that leaves the API is an outcome of its own."""
    began = time.monotonic()
    name = name_of(path, folder)
    signal.setitimer(signal.ITIMER_REAL, limits.seconds + _PATIENCE_S)
    try:
        report = scan([str(path)], options=_options(limits))
        outcome = outcome_of(report, name, folder, seconds=time.monotonic() - began)
    except HungError:
        outcome = _accident(name, "hung", "the scan outlived its limits", began)
    except Exception as error:  # noqa: BLE001 - what a sweep is for
        outcome = _accident(name, "crash", f"{type(error).__name__}: {error}", began)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    child, worker = map(_peak_mib, (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))
    return replace(outcome, child_mib=child, worker_mib=worker)


def _accident(name: str, code: str, reason: str, began: float) -> Outcome:
    return Outcome(
        name=name,
        architecture=None,
        status=Status.FAILED,
        stage="api",
        code=code,
        reason=reason,
        seconds=time.monotonic() - began,
    )


def _options(limits: Limits) -> ScanOptions:
    nowhere = Path(os.devnull) / "cache"  # nothing kept, nothing reused
    return ScanOptions(
        phases=("forward",),
        offline=True,
        use_cache=False,
        cache_dir=nowhere,
        timeout_s=limits.seconds,
        memory_mb=limits.memory_mib,
    )


def _peak_mib(whose: int) -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(whose).ru_maxrss * unit // 2**20
