"""Children with the real libraries, started once for all tests of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from op_registry.toolchain.answers import Compilation, Execution
from op_registry.toolchain.arrays import load, save
from op_registry.toolchain.replies import Done, Reply
from op_registry.toolchain.worker import Worker
from tests.support.wheel import PYTHON

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import torch


@pytest.fixture(scope="session")
def compiler() -> Iterator[Worker]:
    """Return a worker that compiles."""
    assert PYTHON is not None
    with Worker("op_registry.toolchain.compiler", PYTHON) as worker:
        yield worker


@pytest.fixture(scope="session")
def runner() -> Iterator[Worker]:
    """Return a worker that runs."""
    assert PYTHON is not None
    with Worker("op_registry.toolchain.runner", PYTHON) as worker:
        yield worker


@pytest.fixture
def compile_for(compiler: Worker, tmp_path: Path) -> Callable[[str, str], Compilation]:
    """Return a function that compiles a program for a chip."""

    def compile_text(program: str, chip: str) -> Compilation:
        path = tmp_path / "program.mlir"
        path.write_text(program, encoding="utf-8")
        reply = compiler.call({"program": str(path), "chip": chip}, 120)
        assert isinstance(reply, Done), reply
        return Compilation.from_json(reply.result)

    return compile_text


@pytest.fixture
def call_runner(runner: Worker, tmp_path: Path) -> Callable[[str, Sequence[torch.Tensor]], Reply]:
    """Return a function that has the runner run a program on tensors."""

    def call(program: str, inputs: Sequence[torch.Tensor]) -> Reply:
        paths = {name: str(tmp_path / name) for name in ("program", "inputs", "outputs")}
        (tmp_path / "program").write_text(program, encoding="utf-8")
        save(paths["inputs"], inputs)
        return runner.call(paths, 120)

    return call


@pytest.fixture
def run_on_cpu(
    call_runner: Callable[[str, Sequence[torch.Tensor]], Reply], tmp_path: Path
) -> Callable[..., tuple[Execution, list[torch.Tensor]]]:
    """Return a function that runs a program on tensors and returns answer and outputs."""

    def run(program: str, *inputs: torch.Tensor) -> tuple[Execution, list[torch.Tensor]]:
        reply = call_runner(program, inputs)
        assert isinstance(reply, Done), reply
        answer = Execution.from_json(reply.result)
        outputs = tmp_path / "outputs"
        return answer, load(outputs) if outputs.exists() else []

    return run
