"""Tries the toolchain of an interpreter on a program of one operation."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path
from typing import Any

from op_registry.errors import RegistryError
from op_registry.toolchain.answers import Compilation, Execution, Outcome
from op_registry.toolchain.arrays import Raw, read, write
from op_registry.toolchain.chips import DEFAULT_CHIP
from op_registry.toolchain.replies import Done, Failed, Reply
from op_registry.toolchain.worker import Worker

_TIMEOUT_SECONDS = 60.0
_PROGRAM = """func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
_PAIR = struct.Struct("<2f")


def compile_problem(python: str) -> str | None:
    """Compile an addition for the default chip; return what went wrong, None for nothing."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program.mlir")
        program.write_text(_PROGRAM, encoding="utf-8")
        request = {"program": str(program), "chip": DEFAULT_CHIP}
        answer = _call("op_registry.toolchain.compiler", python, request)
    if isinstance(answer, str):
        return answer
    found = Compilation.from_json(answer)
    return None if found.outcome is Outcome.OK else found.message


def run_problem(python: str) -> str | None:
    """Run an addition on XLA:CPU; return what went wrong, None for nothing."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: str(Path(folder, name)) for name in ("program", "inputs", "outputs")}
        Path(paths["program"]).write_text(_PROGRAM, encoding="utf-8")
        data = memoryview(_PAIR.pack(1.5, -2.0))
        write(paths["inputs"], [Raw(dtype="float32", shape=(2,), data=data)])
        answer = _call("op_registry.toolchain.runner", python, paths)
        if isinstance(answer, str):
            return answer
        found = Execution.from_json(answer)
        if found.outcome is not Outcome.OK:
            return found.message
        (output,) = read(paths["outputs"])
        values = _PAIR.unpack(output.data)
    return None if values == (3.0, -4.0) else f"1.5 + 1.5, -2 + -2 came out as {values}"


def _call(module: str, python: str, request: dict[str, Any]) -> dict[str, Any] | str:
    with Worker(module, python) as worker:
        try:
            reply = worker.call(request, _TIMEOUT_SECONDS)
        except RegistryError as error:
            return error.message
    return reply.result if isinstance(reply, Done) else _text(reply)


def _text(reply: Reply) -> str:
    if isinstance(reply, Failed):
        return reply.error
    assert not isinstance(reply, Done)  # noqa: S101 - the caller took that one
    return f"{reply.how}: {reply.detail}"
