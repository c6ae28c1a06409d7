"""What one thread of a verification works with: a child process for each kind of work."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from op_registry.errors import RegistryError
from op_registry.evidence import Cause
from op_registry.toolchain.answers import Compilation, Outcome
from op_registry.toolchain.replies import Done, Failed, Loss
from op_registry.toolchain.worker import GIB, Worker
from op_registry.verify.facts import Compiled, Problem, Ran

if TYPE_CHECKING:
    from op_registry.toolchain.replies import Reply

COMPILE_SECONDS = 60.0
"""For one program, on a machine that has nothing else to do."""
RUN_SECONDS = COMPILE_SECONDS
"""For one program with one sample's inputs, on such a machine."""
MEMORY_BYTES = 4 * GIB
"""That a child may take."""
MOST_PATIENCE = 8.0
"""By how much the limits may grow on a busy machine: a limit is to tell of the program."""
SAMPLES, GRADIENTS = "samples", "gradients"
"""What is lowered: calls of ops, or forward and backward of such calls in one."""
LOWER_SECONDS = 2 * 3600.0
"""For all ops at one dtype; single samples have limits of their own."""
MOST_RESTARTS = 5
"""Of the child that lowers, at one dtype. It goes on where it was."""
_LOSSES = {
    Loss.CRASHED: Cause.CRASHED,
    Loss.TIMED_OUT: Cause.TIMED_OUT,
    Loss.OUT_OF_MEMORY: Cause.OUT_OF_MEMORY,
}
DIFFERS = "differs"
"""What the child that compares answers beside the outcomes of a run."""
_LIMITS = {
    Loss.TIMED_OUT: f"took longer than {COMPILE_SECONDS:g} s",
    Loss.OUT_OF_MEMORY: f"took more than {MEMORY_BYTES >> 30} GiB of memory",
}
_WHERE = re.compile(r", metadata=\{[^}]*\}")
_MOST_CHARACTERS = 300
_TOO_LARGE = "RESOURCE_EXHAUSTED"


class Hand:
    """Owns the children of one thread; ``python`` has torch-tpu, libtpu and jax."""

    def __init__(self, python: str) -> None:
        self._killed = False
        self._lowerer = _worker("op_registry.verify.lower_child", python)
        self._compiler = _worker("op_registry.toolchain.compiler", python)
        self._runner = _worker("op_registry.verify.numerics_child", python)
        self._varier = _worker("op_registry.verify.confirm_child", python)

    def lower(self, dtype: str, folder: str, ops: list[str], what: str = SAMPLES) -> None:
        """Lower samples of ``ops`` at ``dtype``, or forward and backward of some (``GRADIENTS``).

        The results lie in ``folder``. The child keeps the samples of a dtype for the next request;
        ``rest`` frees them. Raises RegistryError when it fails as a whole.
        """
        request = {"dtype": dtype, "folder": folder, "ops": ops, "what": what}
        said = ""
        for _ in range(MOST_RESTARTS):
            if self._killed:
                return
            reply = self._lowerer.call(request, LOWER_SECONDS)
            if isinstance(reply, Done):
                return
            said = reply.error if isinstance(reply, Failed) else f"{reply.how}: {reply.detail}"
        raise RegistryError(f"lowering {what} at {dtype} failed {MOST_RESTARTS} times: {said}")

    def rest(self) -> None:
        """End the child that lowers: it holds the samples of a dtype, others want the memory."""
        self._lowerer.close()

    def compile(self, program: str, chip: str) -> dict[str, Any]:
        """Compile the program in a file for ``chip``; return what the journal keeps of it."""
        return _kept(
            self._compiler.call({"program": program, "chip": chip}, _patient(COMPILE_SECONDS))
        )

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run a program and compare its results; return what the journal keeps of it."""
        return _kept(self._runner.call(request, _patient(RUN_SECONDS)))

    def vary(self, request: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
        """Lower a sample afresh and varied; return the variants, or none and why."""
        kept = _kept(self._varier.call(request, _patient(RUN_SECONDS)))
        if "done" in kept:
            return kept["done"]["variants"], ""
        return [], _accident(kept).message

    def kill(self) -> None:
        """End all children at once, from any thread. No call starts another that lowers."""
        self._killed = True
        for worker in self._workers():
            worker.kill()

    def close(self) -> None:
        """End all children; only from the thread that calls them, or after it."""
        for worker in self._workers():
            worker.close()

    def _workers(self) -> tuple[Worker, ...]:
        return (self._lowerer, self._compiler, self._runner, self._varier)


def _worker(module: str, python: str) -> Worker:
    return Worker(module, python, memory_bytes=MEMORY_BYTES)


def _patient(seconds: float) -> float:
    """Return the limit on this machine as busy as it is now."""
    waiting = os.getloadavg()[0] / (os.cpu_count() or 1)
    return seconds * min(max(waiting, 1.0), MOST_PATIENCE)


def took_too_long(kept: dict[str, Any] | None) -> bool:
    """Tell whether what the journal keeps of a program says that it took too long."""
    return kept is not None and kept.get("lost") == Loss.TIMED_OUT


def _kept(reply: Reply) -> dict[str, Any]:
    match reply:
        case Done():
            return {"done": reply.result}
        case Failed():
            return {"failed": reply.error}
        case _:
            return {"lost": reply.how.value, "detail": reply.detail}


def compiled(kept: dict[str, Any]) -> Compiled:
    """Read what ``Hand.compile`` returned."""
    if "done" not in kept:
        return Compiled(problem=_accident(kept))
    answer = Compilation.from_json(kept["done"])
    return Compiled(
        problem=_refusal(answer),
        emulates=answer.emulation,
        notes=answer.rewritten,
    )


def ran(kept: dict[str, Any]) -> Ran:
    """Read what ``Hand.run`` returned."""
    if "done" not in kept:
        return Ran(problem=_accident(kept))
    answer = kept["done"]
    outcome, message, notes = answer["outcome"], answer["message"], tuple(answer["rewritten"])
    if outcome == DIFFERS:
        problem = Problem(cause=Cause(answer["cause"]), message=message)
        return Ran(problem=problem, kind=answer["kind"], notes=notes)
    if outcome == Outcome.OK:
        return Ran(notes=notes)
    cause = Cause.SKEW if outcome == Outcome.SKEW else Cause.OTHER
    return Ran(problem=Problem(cause=cause, message=f"XLA:CPU: {message}"), notes=notes)


def _refusal(answer: Compilation) -> Problem | None:
    if answer.outcome is Outcome.OK:
        return None
    message = _first_line(answer.message or "no reason given")
    if answer.outcome is Outcome.SKEW:
        return Problem(cause=Cause.SKEW, message=message)
    large = message.startswith(_TOO_LARGE)
    return Problem(cause=Cause.OUT_OF_MEMORY if large else Cause.REJECTED, message=message)


def _first_line(message: str) -> str:
    """Leave out where in the program's text the compiler stood."""
    return _WHERE.sub("", message.splitlines()[0])[:_MOST_CHARACTERS]


def _accident(kept: dict[str, Any]) -> Problem:
    """Say what happened in words that are the same in every run, however busy the machine was."""
    if "failed" in kept:
        return Problem(cause=Cause.OTHER, message=kept["failed"])
    how = Loss(kept["lost"])
    return Problem(cause=_LOSSES[how], message=_LIMITS.get(how, kept["detail"]))
