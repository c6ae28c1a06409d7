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
    cpu_s: float
    """CPU time, user and system, of the process and of all that it started and waited for."""
    peak_mib: float
    """Resident memory of the largest of those processes at its peak."""
    err: str
    out: str


def environment(cache: Path) -> dict[str, str]:
    """Return an environment without a cached model, network or colour."""
    ours = {"TPU_AUDIT_CACHE_DIR": str(cache), "HF_HOME": str(cache / "hf"), "NO_COLOR": "1"}
    return {**os.environ, **ours, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "0"}


def run(command: Sequence[str], cache: Path) -> Ran:
    """Run ``command`` and measure it. Raises RuntimeError if it exits with other than 0 or 1."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        process = subprocess.Popen(
            list(command), stdout=out, stderr=err, env=environment(cache), cwd=ROOT
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    if process.returncode not in {0, 1}:
        text = f"{' '.join(command)} exited with {process.returncode}:\n{texts[1][-2000:]}"
        raise RuntimeError(text)
    return Ran(
        seconds=seconds,
        cpu_s=usage.ru_utime + usage.ru_stime,
        peak_mib=usage.ru_maxrss / 1024,
        out=texts[0],
        err=texts[1],
    )


def in_turn(commands: Sequence[Callable[[], Ran]], runs: int) -> list[list[Ran]]:
    """Run commands in turn, after one run of each that does not count; the runs of each.

    Runs side by side keep a ratio meaningful while the machine's speed drifts.
    """
    rounds = [[command() for command in commands] for _ in range(runs + 1)][1:]
    return [list(each) for each in zip(*rounds, strict=True)]


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
