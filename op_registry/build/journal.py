"""The file through which sample runs survive the process that made them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from op_registry.build.observation import Answer, Reply, Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class Journal:
    """Appends one JSON line an event; each is on the disk before the next call can crash."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self, op: str) -> None:
        """Note that samples of ``op`` are about to run."""
        self._write({"begin": op})

    def add(self, seen: Mapping[str, Sequence[Run]]) -> None:
        """Note what one sample showed."""
        self._write({"runs": {op: [_plain(run) for run in runs] for op, runs in seen.items()}})

    def end(self) -> None:
        """Note that every op has had its turn."""
        self._write({"end": True})

    def read(self) -> tuple[dict[str, list[Run]], str | None]:
        """Return all runs, and the op that was under way at the end, None after a proper end."""
        runs: dict[str, list[Run]] = {}
        last: str | None = None
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else []
        for event in map(json.loads, lines):
            last = event.get("begin", last)
            for op, seen in event.get("runs", {}).items():
                runs.setdefault(op, []).extend(map(_run, seen))
            if "end" in event:
                return runs, None
        return runs, last or ""

    def _write(self, event: dict[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")


def _plain(run: Run) -> dict[str, Any]:
    leaves = {leaf: [reply.answer.value, reply.message] for leaf, reply in run.leaves.items()}
    return {"leaves": leaves, "error": run.error, "detached": run.detached}


def _run(plain: Mapping[str, Any]) -> Run:
    leaves = {
        leaf: Reply(answer=Answer(answer), message=message)
        for leaf, (answer, message) in plain["leaves"].items()
    }
    return Run(leaves=leaves, error=plain["error"], detached=plain["detached"])
