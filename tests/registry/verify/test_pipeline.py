"""The pipeline does each thing once, in a useful order, and goes on where it stopped."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from op_registry.errors import RegistryError
from op_registry.evidence import Cause
from op_registry.toolchain.programs import digest
from op_registry.verify import crew
from op_registry.verify.collect import collect
from op_registry.verify.pipeline import Pipeline
from op_registry.verify.plan import Selection
from op_registry.verify.tools import NEEDED
from op_registry.verify.workspace import Workspace
from tests.support.fake_hand import ADD, AGREES, FakeHand, sample, values

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VERSIONS = dict.fromkeys(NEEDED, "1")
SIGNATURES = {"lower": "a", "compile": "b", "numerics": "c", "gradient": "d", "edges": "e"}
OPS = ["aten.add.Tensor", "aten.add.out", "aten.mul.Tensor"]
SHARED = [sample(0, values=values("v0")), sample(1, values=values("v1"))]
SCRIPT: dict[str, dict[str, list[dict[str, Any]]]] = {
    "float32": {
        "aten.add.Tensor": SHARED,
        "aten.add.out": SHARED,
        "aten.mul.Tensor": [
            sample(0, "multiply", values=values("m0")),
            sample(1, None, lowered=["rejected", "no"]),
            sample(2, "add"),
            sample(3, "mosaic", values=values("k0")),
        ],
    },
    "int64": {"aten.add.Tensor": []},
}
DIFFERS = AGREES | {
    "outcome": "differs",
    "cause": "values",
    "kind": "values",
    "message": "3, not 4",
}


@pytest.fixture
def hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHand:
    """Put a stand-in in the place of the children."""
    fake = FakeHand(script=SCRIPT, log=tmp_path / "log", answers={"multiply": DIFFERS})
    monkeypatch.setattr(crew, "Hand", lambda _: fake)
    return fake


def workspace(tmp_path: Path, **changes: str) -> Workspace:
    """Return the workspace of some versions."""
    return Workspace(tmp_path / "work", VERSIONS, SIGNATURES | changes)


def run(space: Workspace, jobs: int = 1, **fields: Any) -> Pipeline:
    """Run everything over two dtypes and two chips."""
    chosen: dict[str, Any] = {"dtypes": ("int64", "float32"), "chips": ("v5e", "v6e")}
    pipeline = Pipeline(space, "python", Selection(**(chosen | fields)), OPS)
    with space.journal:
        pipeline.run(jobs)
    return pipeline


def test_each_thing_once(tmp_path: Path, hand: FakeHand) -> None:
    """A program is compiled once a chip, run once for equal inputs; Mosaic is not run."""
    run(workspace(tmp_path))

    assert hand.calls() == [
        "compile v5e add",
        "compile v5e multiply",
        "compile v6e add",
        "compile v6e multiply",
        "gradients float32",
        "lower float32",
        "lower int64",
        "run aten.add.Tensor add",
        "run aten.add.Tensor add",
        "run aten.mul.Tensor multiply",
    ]


def test_evidence(tmp_path: Path, hand: FakeHand) -> None:
    """What the children answered is found again by op, dtype, chip and sample."""
    space = workspace(tmp_path)
    run(space, jobs=2)

    found = collect(space, OPS, ("float32", "int64"))

    assert hand.calls()
    assert list(found) == OPS
    assert [(one.dtype, len(one.samples)) for one in found["aten.add.Tensor"]] == [("float32", 2)]
    out = found["aten.add.out"][0]
    assert out.compiled["v5e"][digest(ADD)].problem is None
    assert [one.problem for one in out.ran.values()] == [None, None]
    mul = found["aten.mul.Tensor"][0]
    assert len(mul.compiled["v6e"]) == 2
    assert len(mul.compiled["v5e"]) == 1
    assert mul.ran.keys() == {0}
    assert mul.ran[0].problem is not None
    assert (mul.ran[0].problem.cause, mul.ran[0].kind) == (Cause.VALUES, "values")


def test_gradients(tmp_path: Path, hand: FakeHand) -> None:
    """A gradient is right when forward and backward lower, and agree where they could be run."""
    lost = ["values", "the gradient is lost: result 0 does not require one"]
    hand.gradients = {
        "float32": {
            "aten.add.Tensor": [
                sample(0, values=values("g0")),
                sample(1, "multiply", values=values("g1")),
                sample(2, None, lowered=lost),
                sample(3, "mosaic", values=values("g3")),
                sample(4, "multiply", values=values("g4"), flags=["hidden_write"]),
            ]
        }
    }
    space = workspace(tmp_path)
    run(space, stages=("lower", "gradient"))

    assert [call for call in hand.calls() if call.startswith("run")] == [
        "run aten.add.Tensor add",
        "run aten.add.Tensor multiply",
    ]
    gradient = collect(space, OPS, ("float32",))["aten.add.Tensor"][0].gradient
    assert {index: problem and problem.message for index, problem in gradient.items()} == {
        0: None,
        1: "3, not 4",
        2: lost[1],
        3: None,
        4: None,
    }


def test_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The dtypes of models go through all stages first, v6e before the others, cheap first."""
    log = tmp_path / "log"
    fake = FakeHand(script=SCRIPT, log=log)
    monkeypatch.setattr(crew, "Hand", lambda _: fake)
    run(workspace(tmp_path))

    assert log.read_text(encoding="utf-8").splitlines() == [
        "lower float32",
        "gradients float32",
        "compile v6e add",
        "compile v6e multiply",
        "compile v5e add",
        "compile v5e multiply",
        "run aten.add.Tensor add",
        "run aten.add.Tensor add",
        "run aten.mul.Tensor multiply",
        "lower int64",
    ]


def test_stages(tmp_path: Path, hand: FakeHand) -> None:
    """Stages that are not asked for are not done; later ones go on from what is there."""
    run(workspace(tmp_path), stages=("lower",))
    assert hand.calls() == ["lower float32", "lower int64"]

    run(workspace(tmp_path), stages=("numerics",), dtypes=("float32",))
    assert len(hand.calls()) == 3


def test_resume(tmp_path: Path, hand: FakeHand) -> None:
    """A second run does nothing again, whatever the stage."""
    run(workspace(tmp_path))
    hand.calls()

    again = run(workspace(tmp_path))

    assert hand.calls() == []
    assert again.reused >= 7


def test_changed_code(tmp_path: Path, hand: FakeHand) -> None:
    """Results of changed code are made again, with a note; programs that stay keep theirs."""
    run(workspace(tmp_path))
    hand.calls()

    lowers = workspace(tmp_path, lower="new")
    run(lowers)
    assert hand.calls() == ["gradients float32", "lower float32", "lower int64"]
    assert lowers.notes == ["the code that lowers samples has changed: they are made again"]
    compares = workspace(tmp_path, numerics="new")
    run(compares)
    assert [call for call in hand.calls() if call.startswith(("run", "compile"))] == [
        "run aten.add.Tensor add",
        "run aten.add.Tensor add",
        "run aten.mul.Tensor multiply",
    ]
    assert compares.notes == ["3 results of stage numerics come from other code: made again"]


def test_other_versions(tmp_path: Path, hand: FakeHand) -> None:
    """Other versions start afresh, say so, and leave the old work alone."""
    run(workspace(tmp_path))
    hand.calls()
    newer = Workspace(tmp_path / "work", VERSIONS | {"jax": "2"}, SIGNATURES)

    run(newer)

    assert len(hand.calls()) == 10
    assert len(newer.notes) == 1
    assert "starts afresh" in newer.notes[0]
    run(workspace(tmp_path))
    assert hand.calls() == []


def test_slow_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a program took too long for v6e it is not tried for others, nor the op's second one."""

    class Slow(FakeHand):
        def compile(self, program: str, chip: str) -> dict[str, Any]:
            super().compile(program, chip)
            return {"lost": "timed_out", "detail": "no answer within 60 s"}

    two = [sample(0, "add"), sample(1, "multiply")]
    slow = Slow(script={"float64": {"aten.add.Tensor": two}}, log=tmp_path / "log")
    monkeypatch.setattr(crew, "Hand", lambda _: slow)
    space = workspace(tmp_path)
    run(space, dtypes=("float64",))

    assert slow.calls() == ["compile v6e add", "gradients float64", "lower float64"]
    (found,) = collect(space, OPS, ("float64",))["aten.add.Tensor"]
    (compiled,) = found.compiled["v6e"].values()
    assert compiled.problem is not None
    assert compiled.problem.cause is Cause.TIMED_OUT
    assert "v5e" not in found.compiled


def test_an_error_stops_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a child's failure raises in one thread ends the others and is raised."""

    class Broken(FakeHand):
        def lower(self, dtype: str, folder: str, ops: list[str], what: str = "samples") -> None:
            raise RegistryError(f"no child for {what} at {dtype} {folder} {len(ops)}")

    broken = Broken(script=SCRIPT, log=tmp_path / "log")
    monkeypatch.setattr(crew, "Hand", lambda _: broken)
    before = set(threading.enumerate())  # libraries that other tests imported keep some

    with pytest.raises(RegistryError, match="no child for samples at"):
        run(workspace(tmp_path), jobs=2)
    assert set(threading.enumerate()) <= before


def test_interrupt_keeps_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watcher: Callable[[Pipeline], None]
) -> None:
    """What comes back from children that were killed is not taken for a fact."""

    class Killed(FakeHand):
        def compile(self, program: str, chip: str) -> dict[str, Any]:
            super().compile(program, chip)
            stopped.wait(5)
            return {"lost": "crashed", "detail": "SIGKILL"}

        def kill(self) -> None:
            stopped.set()

    stopped = threading.Event()
    fake = Killed(script=SCRIPT, log=tmp_path / "log")
    monkeypatch.setattr(crew, "Hand", lambda _: fake)
    space = workspace(tmp_path)
    pipeline = Pipeline(space, "python", Selection(dtypes=("float32",), chips=("v6e",)), OPS)

    with space.journal, pytest.raises(KeyboardInterrupt):
        pipeline.run(1, watcher)

    assert fake.calls() == ["compile v6e add", "gradients float32", "lower float32"]
    assert list(space.journal.items("compile")) == []


@pytest.fixture
def watcher() -> Callable[[Pipeline], None]:
    """Return a watcher that presses Ctrl-C once something is being compiled."""

    def watch(pipeline: Pipeline) -> None:
        if pipeline.tasks.total["compile"]:
            raise KeyboardInterrupt

    return watch
