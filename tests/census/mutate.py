"""Mutated configs through the scan: each must give a verdict or a typed failure, within limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.census.mutants import write_mutants
from tests.census.mutants_report import LIMITS, Judged, report
from tests.census.sweep import config_paths, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.census.sweep import Limits

SPOT_CHECKS = 40
"""Mutants that also go through the command line, in a process of its own each."""
_ROOT = Path(__file__).parents[2]
_ALLOWANCE_S = 40
"""Seconds that a whole command may take beyond the limit of its trace: imports, a busy machine."""


def judge_mutants(
    folder: Path, into: Path, *, seed: int, numbers: Sequence[int], limits: Limits = LIMITS
) -> Iterator[Judged]:
    """Write mutants into ``into``, scan them and yield what came of each."""
    mutants = write_mutants(folder, into, seed=seed, numbers=numbers)
    outcomes = sweep([mutant.path for mutant in mutants], into, limits)
    for number, mutant, outcome in zip(numbers, mutants, outcomes, strict=True):
        yield Judged(number=number, mutant=mutant, outcome=outcome)


def mutate(
    folder: Path, out: Path, tell: Callable[[str], None], *, count: int, seed: int, start: int = 0
) -> bool:
    """Judge ``count`` mutants, write the report into ``out``; whether all is well."""
    numbers = range(start, start + count)
    judged = []
    with tempfile.TemporaryDirectory() as temporary:
        for one in judge_mutants(folder, Path(temporary), seed=seed, numbers=numbers):
            o = one.outcome
            tell(
                f"{one.label}: {o.code or o.verdict} {o.seconds:.1f}s {'' if o.typed else o.reason}"
            )
            judged.append(one)
        step = max(count // SPOT_CHECKS, 1)
        wrong = [line for one in judged[::step] if (line := command_line_fault(one))]
    for line in wrong:
        tell(line)
    checked = len(judged[::step])
    page = report(judged, wrong, checked=checked, configs=len(config_paths(folder)), seed=seed)
    (out / "mutated_configs.md").write_text(page, encoding="utf-8")
    return not wrong and all(one.outcome.typed for one in judged)


def command_line_fault(one: Judged) -> str | None:
    """Scan a mutant with ``tpu-audit`` itself; say what is wrong with its exit, if anything."""
    limits = ("--timeout", str(LIMITS.seconds), "--max-memory", str(LIMITS.memory_mib))
    how = ("--phase", "forward", "--offline", "--no-cache", "-f", "json")
    command = ("scan", str(one.mutant.path), *how, *limits)
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-m", "tpu_audit", *command],
            env={**os.environ, "TPU_AUDIT_CACHE_DIR": cache, "PYTHONPATH": str(_ROOT)},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=LIMITS.seconds + _ALLOWANCE_S,
        )
    if "Traceback" in done.stdout + done.stderr:
        return f"{one.label}: traceback"
    if done.returncode != one.outcome.exit_code:
        return f"{one.label}: exit code {done.returncode}, owed {one.outcome.exit_code.value}"
    (model,) = json.loads(done.stdout)["models"]
    status = model["phases"][0]["status"]
    return None if status == one.outcome.status else f"{one.label}: {status} by command line"
