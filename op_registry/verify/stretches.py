"""Takes ops one after the other through lowering, past samples that crash or hang the process.

Each stretch of ops runs in a fork. What it was doing is on the disk before it does it: when it
dies, the sample under way has its answer, and the next stretch begins behind it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import resource
import signal
from functools import partial
from typing import TYPE_CHECKING, Any

from op_registry.build.answers import stable
from op_registry.build.forks import in_fork
from op_registry.build.table import overload_of
from op_registry.evidence import Cause
from op_registry.toolchain.last_words import fatal_line
from op_registry.verify.describe import unanswered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from op_registry.verify.examine import Examiner

HANG_SECONDS = 15
"""Of wall time for one sample, where all others take milliseconds."""
_TIMED_OUT = 1
"""Exit code of a process that the watchdog ended."""


def lower_all(examiner: Examiner, ops: Sequence[str], folder: Path) -> dict[str, Any]:
    """Write a line to ``folder`` for every op of ``ops`` that has none; return what was done."""
    lines = Lines(folder / f"{examiner.kind}.{examiner.dtype}.jsonl")
    known = {line["op"] for line in lines.read()}
    todo = [op for op in ops if op not in known]
    begun: dict[str, Any] | None = None
    while todo:
        code = in_fork(partial(_stretch, examiner, lines, todo, begun), lines.errors)
        if code == 0:
            break
        begun = _after_death(lines, code)
        todo = todo[todo.index(begun["op"]) :]
        if not begun["samples"]:
            lines.add(begun)
            begun, todo = None, todo[1:]
    return _summary(lines, set(ops) - known)


class Lines:
    """The file of results, and beside it the op under way with the samples it has behind it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._under_way = path.with_suffix(".under_way")
        self.errors = path.with_suffix(".errors")
        """What the last stretch said on standard error."""

    def add(self, line: Mapping[str, Any]) -> None:
        """Append an op's line."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def begin(self, line: Mapping[str, Any], record: Mapping[str, Any] | None) -> None:
        """Note what an op has so far, and the record of the sample that is about to be tried.

        Without a record the op's samples are about to be made.
        """
        text = json.dumps({"line": line, "record": record})
        self._under_way.write_text(text, encoding="utf-8")

    def begun(self) -> dict[str, Any]:
        """Return what was noted last: ``line`` and ``record``."""
        noted: dict[str, Any] = json.loads(self._under_way.read_text(encoding="utf-8"))
        return noted

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield the lines, without the rest of one that a kill tore, which is cut off."""
        if not self._path.exists():
            return
        content = self._path.read_bytes()
        whole = content.rpartition(b"\n")[0]
        if len(whole) + 1 < len(content):
            self._path.write_bytes(whole + b"\n" if whole else b"")
        yield from map(json.loads, whole.splitlines())


def _stretch(
    examiner: Examiner, lines: Lines, todo: Sequence[str], begun: dict[str, Any] | None
) -> None:
    for op in todo:
        if begun is not None and _hung(begun):
            # Its other samples would cost as much time and say the same.
            lines.add(begun)
            begun = None
            continue
        line = begun or {"op": op, "dtype": examiner.dtype, "samples": [], "error": ""}
        begun = None
        lines.begin(line, None)
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        func = overload_of(op)
        found = [] if func is None else examiner.samples(op, func)
        for place, sample in enumerate(found[len(line["samples"]) :], len(line["samples"])):
            lines.begin(line, unanswered(func, sample, place))
            faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
            line["samples"].append(examiner.examine(op, func, sample, line["samples"]))
        lines.add(line)
    faulthandler.cancel_dump_traceback_later()


def _after_death(lines: Lines, code: int) -> dict[str, Any]:
    """Return the line of the op that was under way, with an answer for the sample that ended it."""
    noted = lines.begun()
    line: dict[str, Any] = noted["line"]
    how = [Cause.TIMED_OUT.value, f"took more than {HANG_SECONDS} s"]
    if code != _TIMED_OUT:
        how = [Cause.CRASHED.value, stable(_end(code, lines.errors))]
    if noted["record"] is None:
        line["error"] = f"making samples on the CPU: {how[1]}"
        line["samples"] = []
    else:
        line["samples"].append(noted["record"] | {"lowered": how})
    return line


def _hung(line: Mapping[str, Any]) -> bool:
    return any(record["lowered"][0] == Cause.TIMED_OUT for record in line["samples"][-1:])


def _end(code: int, errors: Path) -> str:
    """Say how a process ended; an abort comes with a reason."""
    name = f"exit code {code}"
    with contextlib.suppress(ValueError):
        name = signal.Signals(-code).name
    said = fatal_line(errors.read_text(encoding="utf-8", errors="replace"))
    reason = f": {said}" if said and code == -signal.SIGABRT else ""
    return f"the process ended with {name}{reason}"


def _summary(lines: Lines, ops: set[str]) -> dict[str, Any]:
    done = [line for line in lines.read() if line["op"] in ops]
    samples = [sample for line in done for sample in line["samples"]]
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "ops": len(done),
        "samples": len(samples),
        "lowered": sum(sample["lowered"] is True for sample in samples),
        "cpu_seconds": round(spent.ru_utime + spent.ru_stime, 1),
    }
