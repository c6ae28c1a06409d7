"""Lowering and compiling: torch_tpu builds StableHLO of a kernel, libtpu compiles it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from op_registry.reference.checks.outcome import Outcome
from op_registry.toolchain.answers import Compilation
from op_registry.toolchain.answers import Outcome as Compiled
from op_registry.toolchain.replies import Done, Failed
from op_registry.toolchain.worker import Worker

if TYPE_CHECKING:
    from types import TracebackType

    from op_registry.reference.declare import Declaration
    from op_registry.toolchain.replies import Reply

CHIPS = ("v6e", "v5e")
_LOWER_SECONDS, _COMPILE_SECONDS = 120.0, 240.0
_MOST_LOWERED, _MOST_COMPILED, _MOST_GRADIENTS = 20, 2, 4
"""Samples of an op at one dtype."""


class Toolchain:
    """The two children, of the interpreter ``python`` that has torch-tpu; close it after use.

    Programs are written into ``folder`` and stay there.
    """

    def __init__(self, python: str, folder: str) -> None:
        self._lower = Worker("op_registry.reference.lowering", python)
        self._compile = Worker("op_registry.toolchain.compiler", python)
        self._folder = folder

    def __enter__(self) -> Self:
        """Return the toolchain itself; nothing is started yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the children."""
        self._lower.close()
        self._compile.close()

    def lower(
        self, declaration: Declaration, dtype: str, *, gradient: bool = False
    ) -> tuple[Outcome, list[str]]:
        """Lower the samples of a kernel at ``dtype``; also return the paths of the programs."""
        most = _MOST_GRADIENTS if gradient else _MOST_LOWERED
        request = {"op": declaration.op, "dtype": dtype, "most": most, "gradient": gradient}
        reply = self._lower.call(request | {"folder": self._folder}, _LOWER_SECONDS)
        found = reply.result["lowered"] if isinstance(reply, Done) else [{"error": _lost(reply)}]
        failures = tuple(one["error"] for one in found if "error" in one)
        name = "gradient lowered" if gradient else "lowered"
        outcome = Outcome(check=name, dtype=dtype, tried=len(found), failures=failures)
        return outcome, [one["program"] for one in found if "program" in one]

    def largest(self, op: str, dtype: str) -> str | None:
        """Lower the largest sample of an op at ``dtype``; return the program's path, if any."""
        request = {"op": op, "dtype": dtype, "most": 1, "largest": True, "folder": self._folder}
        reply = self._lower.call(request, _LOWER_SECONDS)
        found = reply.result["lowered"] if isinstance(reply, Done) else []
        return next((one["program"] for one in found if "program" in one), None)

    def compile(self, dtype: str, programs: list[str], chip: str) -> Outcome:
        """Compile the smallest and the largest of ``programs`` for ``chip``."""
        ordered = sorted(programs, key=lambda path: (Path(path).stat().st_size, path))
        chosen = list(dict.fromkeys([*ordered[-1:], *ordered[:1]]))[:_MOST_COMPILED]
        failures = tuple(why for path in chosen if (why := self._refused(path, chip)))
        check = f"compiled for {chip}"
        return Outcome(check=check, dtype=dtype, tried=len(chosen), failures=failures)

    def _refused(self, path: str, chip: str) -> str:
        reply = self.compilation(path, chip)
        if isinstance(reply, Compilation):
            return "" if reply.outcome is Compiled.OK else f"{reply.outcome}: {reply.message}"
        return _lost(reply)

    def compilation(self, path: str, chip: str) -> Compilation | Reply:
        """Compile the program at ``path``; return the answer, or how none came."""
        reply = self._compile.call({"program": path, "chip": chip}, _COMPILE_SECONDS)
        return Compilation.from_json(reply.result) if isinstance(reply, Done) else reply


def _lost(reply: Reply) -> str:
    if isinstance(reply, Failed):
        return reply.error
    return "" if isinstance(reply, Done) else f"{reply.how}: {reply.detail}"
