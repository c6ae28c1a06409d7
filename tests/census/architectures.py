"""The census of architectures: every model type of the installed transformers, in every phase."""

from __future__ import annotations

import resource
import time
from functools import partial
from typing import TYPE_CHECKING

from op_registry.loader import load
from tests.census.architectures_report import Run, lines, page, well
from tests.census.auto_classes import auto_classes
from tests.census.class_configs import candidates
from tests.census.class_sweep import WORKERS, sweep_classes
from tests.census.class_trace import ClassResult, Work
from tests.census.hub_index import index_hub
from tpu_audit.types.trace import PHASES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path


def census_architectures(
    hub: Path | None,
    out: Path,
    tell: Callable[[str], None],
    *,
    only: Iterable[str] = (),
    every: int = 1,
    phases: Collection[str] = PHASES,
) -> bool:
    """Trace all types, or ``only`` some, or one in ``every``; write both reports into ``out``.

    Returns whether all that the census must show holds.
    """
    chosen = set(only)
    listed = [classes for name, classes in auto_classes() if not chosen or name in chosen][::every]
    began, cpu = time.monotonic(), cpu_seconds()
    configs = partial(candidates, hub=index_hub(hub))
    work = Work(configs=configs, registry=load(None), phases=phases)
    results: list[ClassResult] = []
    for result in sweep_classes(listed, work):
        results.append(result)
        tell(f"{len(results)} {line(result)}")
    run = Run(
        results=tuple(sorted(results, key=lambda r: (r.of.model_type, r.of.head))),
        types=len(listed),
        seconds=time.monotonic() - began,
        cpu_seconds=cpu_seconds() - cpu,
        workers=WORKERS,
        real=hub is not None,
    )
    out.mkdir(parents=True, exist_ok=True)
    (out / "architectures.md").write_text(page(run), encoding="utf-8")
    (out / "architectures.json").write_text(lines(run), encoding="utf-8")
    return well(run)


def cpu_seconds() -> float:
    """Return the CPU time of this process and of all that it waited for."""
    own, others = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def line(result: ClassResult) -> str:
    """Say in a line what came of a class."""
    phases = " ".join(
        f"{p.phase}:{'ok' if p.traced else p.code} {p.seconds + p.spent:.1f}s"
        for p in result.phases
    )
    errors = "; ".join(p.error for p in result.phases if p.error)
    of = result.of
    return f"{of.model_type}/{of.kind} {of.name} ({result.source}) {phases} {errors}".rstrip()
