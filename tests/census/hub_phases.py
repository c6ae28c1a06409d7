"""Public configs at full depth in every phase that applies, each with its time and memory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from op_registry.loader import load
from tests.census.architectures import line
from tests.census.auto_classes import AutoClass
from tests.census.class_configs import Candidate
from tests.census.class_sweep import sweep_classes
from tests.census.class_trace import ClassResult, PhaseResult, Work
from tests.census.hub import class_exists, versions
from tests.census.markdown import table
from tests.census.sweep import config_paths, name_of
from tpu_audit.sources.local import resolve_local
from tpu_audit.sources.target import LocalTarget
from tpu_audit.types.errors import TpuAuditError
from tpu_audit.types.trace import PHASES, TraceSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

REQUIRED = 0.98
"""Share of the configs whose class is here that must be traced, of each phase that applies."""
SECONDS, MIB = 20, 1024
"""What a phase of the largest models may take."""
_LARGE = 5_000_000_000
"""Parameters from which on a model has a row of its own."""
_LARGEST = ("config", "parameters", "forward", "prefill and decode", "train", "peak MiB")


def census_phases(
    folder: Path,
    out: Path,
    tell: Callable[[str], None],
    *,
    only: Collection[str] = (),
    phases: Collection[str] = PHASES,
) -> bool:
    """Trace every config whose class is here, or ``only`` some; write ``hub_phases.md``.

    Returns whether enough were traced in each phase, within the limits.
    """
    paths = {name_of(path, folder): path for path in config_paths(folder) if class_exists(path)}
    chosen = [name for name in paths if not only or name in only]
    work = Work(
        configs=lambda one: _candidates(paths[one.model_type], one.model_type),
        registry=load(None),
        phases=phases,
        settings=TraceSettings(),
    )
    results: list[ClassResult] = []
    for result in sweep_classes([[_named(paths[name], name)] for name in chosen], work):
        results.append(result)
        tell(f"{len(results)}/{len(chosen)} {line(result)}")
    results.sort(key=lambda result: result.of.model_type)
    out.mkdir(parents=True, exist_ok=True)
    (out / "hub_phases.md").write_text(page(results), encoding="utf-8")
    return all(done >= REQUIRED * of for _, done, of in shares(results)) and not slow(results)


def _named(path: Path, name: str) -> AutoClass:
    """Name a config in place of a model type; it counts as a head, so that it trains."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return AutoClass(model_type=name, name=content["architectures"][0], kind="config")


def _candidates(path: Path, name: str) -> Iterator[Candidate]:
    try:
        yield Candidate(spec=resolve_local(LocalTarget(text=str(path), path=path)), source=name)
    except TpuAuditError:
        return


def shares(results: Sequence[ClassResult]) -> Iterator[tuple[str, int, int]]:
    """Yield phase, how many were traced, and to how many it applies."""
    for name in PHASES:
        found = [phase for result in results if (phase := result.phase(name)) is not None]
        yield name, sum(phase.traced for phase in found), len(found)


def slow(results: Sequence[ClassResult]) -> list[tuple[ClassResult, PhaseResult]]:
    """Return the phases of large models that took more than they may."""
    return [
        (result, phase)
        for result in results
        if _parameters(result) >= _LARGE
        for phase in result.phases
        if phase.seconds > SECONDS or phase.mib > MIB
    ]


def _parameters(result: ClassResult) -> int:
    return max(phase.parameters for phase in result.phases)


def page(results: Sequence[ClassResult]) -> str:
    """Return the report in Markdown."""
    rows = [
        (name, done, of, f"{done / max(of, 1):.1%}") for name, done, of in shares(results) if of
    ]
    lost = [
        (r.of.model_type, r.of.name, p.phase, p.stage, p.code, p.error)
        for r in results
        for p in r.phases
        if not p.traced
    ]
    large = sorted((r for r in results if _parameters(r) >= _LARGE), key=_parameters)
    return f"""# {len(results)} public configs in every phase

Every config of a folder in hub layout whose class the installed library has, at full depth:
bfloat16, batch 1, 128 tokens, in each phase that applies to the class. At least {REQUIRED:.0%} of
each must be traced; a phase of a model of {_LARGE // 10**9} billion parameters or more may take
{SECONDS} s of CPU time and {MIB} MiB.

Made with {versions()} by `.ci/census phases FOLDER`.

{table(("phase", "traced", "of", "share"), rows)}
## Not traced

{table(("config", "class", "phase", "stage", "cause", "what was said"), lost)}
## The largest

CPU seconds of the tracing process of each phase, which shares the imports of its parent; peak
resident memory of any of them, those imports included.

{table(_LARGEST, [_costs(result) for result in large])}"""


def _costs(result: ClassResult) -> tuple[object, ...]:
    times = [result.phase(name) for name in ("forward", "prefill", "train")]
    return (
        result.of.model_type,
        _parameters(result),
        *("" if one is None else f"{one.seconds:.1f}" for one in times),
        max(phase.mib for phase in result.phases),
    )
