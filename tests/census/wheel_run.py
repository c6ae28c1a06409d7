"""Traces the same models with both tracers, each in one long process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tests.census.auto_classes import AutoClass
from tests.census.class_configs import Candidate, candidates
from tpu_audit.trace.oracle import CHILD_ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.census.hub_index import HubIndex

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests" / "support" / "family_traces.py"
PHASES = ("forward", "prefill", "decode")
Counts = Mapping[str, int]
Answer = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One model, traced twice with one config."""

    of: AutoClass
    source: str
    """Where the config came from; empty where no config could be made."""
    pretended: Mapping[str, Counts]
    """Phase -> role and op overload -> calls, on the pretended device."""
    real: Mapping[str, Counts]
    """The same above torch_tpu."""
    errors: Mapping[str, str]
    """Tracer and phase -> why it was not traced."""

    @property
    def compared(self) -> list[str]:
        """Phases that both tracers came to the end of."""
        return [phase for phase in PHASES if phase in self.pretended and phase in self.real]


def trace_pairs(
    python: str, models: Sequence[AutoClass], hub: HubIndex, tell: Callable[[str], None]
) -> Iterator[Pair]:
    """Yield what both tracers see of ``models``; ``python`` has the wheel.

    The first config that the pretended tracer gets through is the one that both are asked for.
    """
    with _Tracer(sys.executable, "pretended") as pretended, _Tracer(python, "torch_tpu") as real:
        for number, one in enumerate(models, start=1):
            pair = _trace_pair(one, list(candidates(one, hub)), pretended, real)
            said = f"{', '.join(pair.compared)} {dict(pair.errors)}"
            tell(f"{number}/{len(models)} {one.name} ({pair.source}): {said}")
            yield pair


def _trace_pair(one: AutoClass, found: list[Candidate], pretended: _Tracer, real: _Tracer) -> Pair:
    tries = [{"spec": asdict(c.spec), "dtype": c.dtype} for c in found]
    ours = pretended.ask(tries)
    chosen = ours["chosen"]
    theirs = real.ask([tries[chosen]]) if chosen is not None else _NOTHING
    errors = {
        f"{tracer} {phase}": text
        for tracer, answer in (("pretended", ours), ("torch_tpu", theirs))
        for phase, text in answer["errors"].items()
    }
    return Pair(
        of=one,
        source="" if chosen is None else found[chosen].source,
        pretended=ours["phases"],
        real=theirs["phases"],
        errors=errors,
    )


_NOTHING: Answer = {"chosen": None, "phases": {}, "errors": {}}
_CRASHED: Answer = {**_NOTHING, "errors": {"forward": "the process of the tracer died"}}


class _Tracer:
    """A process that traces one model after the other; when it dies, it is started again."""

    def __init__(self, python: str, device: str) -> None:
        self._command = [python, str(SCRIPT), device]
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def ask(self, tries: list[Answer]) -> Answer:
        """Return the answer to one request."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(tries, default=dict) + "\n")
            process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            self.__exit__()
            return _CRASHED
        answer: Answer = json.loads(line)
        return answer

    def _start(self) -> subprocess.Popen[str]:
        ours = {**CHILD_ENVIRONMENT, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ours},
            text=True,
        )
