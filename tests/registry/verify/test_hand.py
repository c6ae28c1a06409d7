"""What children answer, and how they end, is told in the same words in every run."""

from __future__ import annotations

from typing import Any

import pytest

from op_registry.evidence import Cause
from op_registry.toolchain.answers import Compilation, Outcome
from op_registry.verify.facts import Compiled, Problem, Ran
from op_registry.verify.hand import MOST_PATIENCE, _patient, compiled, ran
from tests.support.fake_hand import AGREES


def done(outcome: Outcome, message: str = "", **fields: Any) -> dict[str, Any]:
    """Return what is kept of a compiler's answer."""
    return {"done": Compilation(outcome=outcome, message=message, **fields).to_json()}


@pytest.mark.parametrize(
    ("kept", "cause", "message"),
    [
        (done(Outcome.REFUSED, "UNIMPLEMENTED: no"), Cause.REJECTED, "UNIMPLEMENTED: no"),
        (done(Outcome.SKEW, "vhlo"), Cause.SKEW, "vhlo"),
        (
            done(Outcome.REFUSED, "no c64 min(%a, %b), metadata={line=3}\nSuspected place:\n-:3"),
            Cause.REJECTED,
            "no c64 min(%a, %b)",
        ),
        (
            done(Outcome.REFUSED, "RESOURCE_EXHAUSTED: HBM"),
            Cause.OUT_OF_MEMORY,
            "RESOURCE_EXHAUSTED: HBM",
        ),
        ({"failed": "ValueError: x"}, Cause.OTHER, "ValueError: x"),
        (
            {"lost": "timed_out", "detail": "no answer within 312 s"},
            Cause.TIMED_OUT,
            "took longer than 60 s",
        ),
        (
            {"lost": "out_of_memory", "detail": "4117 MiB in use"},
            Cause.OUT_OF_MEMORY,
            "took more than 4 GiB of memory",
        ),
        ({"lost": "crashed", "detail": "SIGSEGV: words"}, Cause.CRASHED, "SIGSEGV: words"),
    ],
)
def test_problems(kept: dict[str, Any], cause: Cause, message: str) -> None:
    """Every way not to compile has its cause, and limits their nominal size."""
    assert compiled(kept) == Compiled(problem=Problem(cause=cause, message=message))


def test_compiled() -> None:
    """A program that compiled says what it emulates and what was rewritten."""
    kept = done(Outcome.OK, emulation=("f64",), rewritten=("chlo.scan unrolled",))

    assert compiled(kept) == Compiled(emulates=("f64",), notes=("chlo.scan unrolled",))


@pytest.mark.parametrize(
    ("answer", "cause", "kind"),
    [
        ({"outcome": "refused", "message": "x"}, Cause.OTHER, ""),
        ({"outcome": "skew", "message": "x"}, Cause.SKEW, ""),
        (
            {"outcome": "differs", "message": "x", "cause": "dtype", "kind": "dtype"},
            Cause.DTYPE,
            "dtype",
        ),
    ],
)
def test_runs(answer: dict[str, Any], cause: Cause, kind: str) -> None:
    """Only a difference has a kind: what XLA:CPU cannot run says nothing about the kernel."""
    found = ran({"done": AGREES | answer})

    assert found.problem is not None
    assert (found.problem.cause, found.kind) == (cause, kind)
    assert ran({"done": AGREES}) == Ran()
    assert ran({"lost": "crashed", "detail": "SIGABRT"}).kind == ""


@pytest.mark.parametrize(("load", "limit"), [(0.0, 60.0), (8.0, 240.0), (1000.0, 60.0 * 8)])
def test_patience(monkeypatch: pytest.MonkeyPatch, load: float, limit: float) -> None:
    """Limits grow with the load of each core, up to a bound."""
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr("os.cpu_count", lambda: 2)

    assert _patient(60.0) == limit
    assert MOST_PATIENCE == 8.0
