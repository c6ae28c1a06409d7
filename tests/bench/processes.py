"""Runs commands as whole processes and measures them from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).parents[2]
PYTHON = (sys.executable,)
TOOL = (sys.executable, "-m", "tpu_audit")
_SAMPLE_S = 0.02


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """One finished process."""

    seconds: float
    """Wall clock, from start to exit."""
    code: int
    err: str


def environment(cache: Path) -> dict[str, str]:
    """Return an environment without a cached model, network or colour."""
    ours = {"TPU_AUDIT_CACHE_DIR": str(cache), "HF_HOME": str(cache / "hf"), "NO_COLOR": "1"}
    return {**os.environ, **ours, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "0"}


def run(command: Sequence[str], cache: Path) -> Ran:
    """Run ``command`` and take its time. Raises RuntimeError if it exits with other than 0 or 1."""
    with tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        code = subprocess.call(
            list(command), stdout=subprocess.DEVNULL, stderr=err, env=environment(cache), cwd=ROOT
        )
        seconds = time.perf_counter() - began
        err.seek(0)
        text = err.read().decode(errors="replace")
    if code not in {0, 1}:
        raise RuntimeError(f"{' '.join(command)} exited with {code}:\n{text[-2000:]}")
    return Ran(seconds=seconds, code=code, err=text)


def interleaved(
    first: Callable[[], Ran], second: Callable[[], Ran], runs: int
) -> tuple[list[float], list[float]]:
    """Time two commands in turn, after one run of each that does not count.

    Pairs keep a ratio meaningful while the machine's speed drifts.
    """
    pairs = [(first().seconds, second().seconds) for _ in range(runs + 1)][1:]
    return [a for a, _ in pairs], [b for _, b in pairs]


def peak_memory(command: Sequence[str], cache: Path) -> tuple[int, int]:
    """Run ``command``; MiB at its peak: of its largest process, and of all together.

    The first is the system's own account of resident memory. The second is sampled from
    proportional set sizes, which count a page that processes share once.
    """
    process = subprocess.Popen(
        list(command),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(cache),
        cwd=ROOT,
    )
    together = 0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        together = max(together, sum(map(_proportional_kib, _tree(process.pid))))
        time.sleep(_SAMPLE_S)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1}:
        raise RuntimeError(f"{' '.join(command)} exited with {process.returncode}")
    return usage.ru_maxrss // 1024, together // 1024


def _tree(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return
    for child in children:
        yield from _tree(int(child))


def _proportional_kib(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:  # it ended meanwhile
        return 0
    found = [line.split()[1] for line in text.splitlines() if line.startswith("Pss:")]
    return int(found[0]) if found else 0
