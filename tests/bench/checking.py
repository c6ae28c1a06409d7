"""Time and memory of ``check`` and ``fix`` over the sources of transformers."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tests.bench.figure import Figure, Section, spread
from tests.bench.processes import PYTHON, TOOL, in_turn, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.processes import Ran

PARSER = Path(__file__).with_name("parsing.py")
HALF_GIGABYTE_MIB = 477
TIMES = 4.0
"""The most that a check may cost, in times of parsing alone."""
SECOND_RUN_S = 2.0
_METHOD = """\
All {count:,} Python files of transformers as it is installed, {lines:,} lines. CPU time is that of
a whole process from its start to its exit and of all processes that it started, against that of a
process that calls `ast.parse` on the same files and does nothing else. Ratios are of runs side by
side, and the median of them counts; of wall clocks the fastest does."""


def transformers() -> Path:
    """Return the folder of the installed package."""
    found = find_spec("transformers")
    if found is None or not found.submodule_search_locations:
        raise RuntimeError("transformers is not installed: pip install 'tpu-audit[scan]'")
    return Path(found.submodule_search_locations[0])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Bench:
    """Commands over one folder of sources."""

    tree: Path
    folder: Path

    def parse(self) -> Ran:
        """Parse alone."""
        return run((*PYTHON, str(PARSER), str(self.tree)), self.folder / "parse")

    def check(self) -> Ran:
        """Check with nothing remembered."""
        shutil.rmtree(self.folder / "check", ignore_errors=True)
        return self.again()

    def again(self) -> Ran:
        """Check what is remembered."""
        return run((*TOOL, "check", str(self.tree)), self.folder / "check")

    def alone(self) -> Ran:
        """Check in one process."""
        command = (*TOOL, "check", "--no-cache", "--jobs", "1", str(self.tree))
        return run(command, self.folder / "alone")

    def fix(self) -> Ran:
        """Show all repairs with nothing remembered, write none."""
        shutil.rmtree(self.folder / "fix", ignore_errors=True)
        return run((*TOOL, "fix", "--unsafe-fixes", str(self.tree)), self.folder / "fix")


def section(folder: Path, runs: int) -> Section:
    """Measure checks and repairs; ``folder`` is for caches."""
    bench = _Bench(tree=transformers(), folder=folder)
    _compare_counts(bench)
    commands = (bench.parse, bench.check, bench.again, bench.alone, bench.fix)
    parse, check, again, alone, fix = in_turn(commands, runs)
    figures = (
        _ratio("`check`, a process on each core, nothing cached: CPU time", check, parse, TIMES),
        _ratio("`check --jobs 1`, nothing cached: CPU time", alone, parse, TIMES),
        _ratio("`fix --unsafe-fixes`, nothing cached or written: CPU time", fix, parse),
        _memory("`check`: largest process, resident", check),
        _memory("`check --jobs 1`: largest process, resident", alone),
        _wall("`check`, nothing cached: wall clock, fastest", check),
        _wall("`check --jobs 1`, nothing cached: wall clock, fastest", alone),
        _wall("`check` again, nothing changed: wall clock, fastest", again, SECOND_RUN_S),
        _ratio("`check` again: CPU time", again, parse),
    )
    files = list(bench.tree.rglob("*.py"))
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    method = _METHOD.format(count=len(files), lines=lines)
    return Section(title="Check", method=method, figures=figures)


def _compare_counts(bench: _Bench) -> None:
    """Raise RuntimeError unless checker and parser see the same number of files."""
    command = (*TOOL, "check", "-f", "json", str(bench.tree))
    seen = json.loads(run(command, bench.folder / "check").out)["files"]["python"]
    parsed = int(bench.parse().out)
    if seen != parsed:
        raise RuntimeError(f"the checker reads {seen} files, the parser {parsed}")


def _ratio(
    what: str, ours: Sequence[Ran], parse: Sequence[Ran], limit: float | None = None
) -> Figure:
    by_pair = [a.cpu_s / b.cpu_s for a, b in zip(ours, parse, strict=True)]
    seconds = [median(ran.cpu_s for ran in each) for each in (ours, parse)]
    return Figure(
        what=what,
        value=median(by_pair),
        unit="times `ast.parse`",
        limit=limit,
        detail=f"{spread(by_pair)}; medians {seconds[0]:.2f} s and {seconds[1]:.2f} s",
    )


def _memory(what: str, runs: Sequence[Ran]) -> Figure:
    peak = max(ran.peak_mib for ran in runs)
    return Figure(what=what, value=peak, unit="MiB", limit=HALF_GIGABYTE_MIB, detail="worst run")


def _wall(what: str, runs: Sequence[Ran], limit: float | None = None) -> Figure:
    """Take the fastest run: what else the machine does only adds to a wall clock."""
    seconds = [ran.seconds for ran in runs]
    return Figure(what=what, value=min(seconds), unit="s", limit=limit, detail=spread(seconds))
