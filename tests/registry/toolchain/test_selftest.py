"""The self-test tells what is wrong, in words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from op_registry.toolchain.answers import Compilation, Execution, Outcome
from op_registry.toolchain.replies import Done, Failed, Loss, Lost, Reply
from op_registry.toolchain.selftest import compile_problem, run_problem
from op_registry.toolchain.worker import Worker
from tests.support.wheel import PYTHON, needs_wheel


def answering(monkeypatch: pytest.MonkeyPatch, reply: Reply) -> None:
    """Have every worker answer this."""
    monkeypatch.setattr(Worker, "call", lambda *_: reply)


def test_interpreter_that_does_not_start() -> None:
    """A path that is no interpreter is a problem, not an exception."""
    assert "cannot be started" in (compile_problem("/nowhere/python") or "")
    assert "cannot be started" in (run_problem("/nowhere/python") or "")


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Failed(error="ValueError: x"), "ValueError: x"),
        (Lost(how=Loss.TIMED_OUT, detail="no answer within 60 s"), "timed_out: no answer"),
    ],
)
def test_call_that_fails(monkeypatch: pytest.MonkeyPatch, reply: Reply, says: str) -> None:
    """An error and a loss in the child are told by both trials."""
    answering(monkeypatch, reply)
    assert says in (compile_problem(sys.executable) or "")
    assert says in (run_problem(sys.executable) or "")


def test_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler's refusal is a problem, and its message is told."""
    refusal = Compilation(outcome=Outcome.REFUSED, message="no such chip")
    answering(monkeypatch, Done(result=refusal.to_json()))
    assert compile_problem(sys.executable) == "no such chip"
    skew = Execution(outcome=Outcome.SKEW, message="unknown op")
    answering(monkeypatch, Done(result=skew.to_json()))
    assert run_problem(sys.executable) == "unknown op"


def test_wrong_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that is not the sum is a problem: here the inputs come back."""

    def echo(_: Worker, request: dict[str, str], __: float) -> Reply:
        Path(request["outputs"]).write_bytes(Path(request["inputs"]).read_bytes())
        return Done(result=Execution(outcome=Outcome.OK).to_json())

    monkeypatch.setattr(Worker, "call", echo)
    assert run_problem(sys.executable) == "1.5 + 1.5, -2 + -2 came out as (1.5, -2.0)"


@needs_wheel
def test_real_toolchain() -> None:
    """With the real libraries nothing is wrong."""
    assert PYTHON is not None
    assert compile_problem(PYTHON) is None
    assert run_problem(PYTHON) is None
