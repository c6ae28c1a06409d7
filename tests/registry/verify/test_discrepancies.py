"""What disagrees with eager PyTorch is looked at twice and shown as a program."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from op_registry.evidence import Cause
from op_registry.toolchain.programs import digest
from op_registry.verify import crew
from op_registry.verify.crew import work_off
from op_registry.verify.discrepancies import (
    Discrepancy,
    Inquiry,
    aborts,
    edge_cases,
    suspects,
)
from op_registry.verify.facts import Found, LoweredSample, Problem, Ran, Values
from op_registry.verify.inquest import Inquest
from op_registry.verify.report import as_json, as_markdown, groups, reproducer
from op_registry.verify.tools import NEEDED
from op_registry.verify.workspace import Workspace
from tests.support.fake_hand import ADD, AGREES, FakeHand

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = dict.fromkeys(NEEDED, "1")
STAGES = dict.fromkeys(("lower", "compile", "numerics", "gradient", "edges"), "1")
DIFFERS = AGREES | {
    "outcome": "differs",
    "cause": "values",
    "kind": "values",
    "message": "3, not 4",
}


def found(op: str, *sizes: int, kind: str = "values", dtype: str = "float32") -> Found:
    """Return an op whose samples of these sizes all failed."""
    samples = tuple(
        LoweredSample(
            index=index,
            arguments={"dim": index},
            tensors={"self": [dtype, [size]]},
            problem=None,
            program="p",
            values=Values(path="v", inputs=1, outputs=1, references=0),
        )
        for index, size in enumerate(sizes)
    )
    problem = Problem(cause=Cause.VALUES, message="result 0: 1 of 6 differ, most at [0, 2]: 3, 4")
    ran = {sample.index: Ran(problem=problem, kind=kind) for sample in samples}
    return Found(op=op, dtype=dtype, samples=samples, ran=ran)


def variant(name: str, program: str, code: str = "def call(device):\n    ...\n") -> dict[str, Any]:
    """Return what the child says of a variant."""
    counts = {"inputs": 1, "outputs": 1, "references": 0, "undefined": [], "raises": ""}
    return {"name": name, "program": program, "values": "v", "code": code, **counts}


def inquire(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variants: list[dict[str, Any]]
) -> Inquiry:
    """Look twice at one suspect; programs called ``bad`` differ again."""
    fake = FakeHand(script={}, log=tmp_path / "log", answers={"bad": DIFFERS}, variants=variants)
    monkeypatch.setattr(crew, "Hand", lambda _: fake)
    space = Workspace(tmp_path, VERSIONS, STAGES)
    with space.journal:
        inquest = Inquest(space, suspects([found("aten.x.default", 6)]))
        work_off(inquest.tasks, "python", 1, lambda: None)
    return inquest.result()


def test_suspects() -> None:
    """Of each op, dtype and kind the smallest sample is looked at; other errors are none."""
    failed = Found(
        op="aten.y.default",
        dtype="float32",
        samples=(),
        ran={0: Ran(problem=Problem(cause=Cause.CRASHED, message="SIGSEGV"))},
    )

    ours = found("aten.z.default", 6)
    sample = replace(ours.samples[0], flags=frozenset({"reference_kernel"}))

    every = [found("aten.x.default", 6, 2, 4), found("aten.x.out", 3), failed]
    chosen = suspects([*every, replace(ours, samples=(sample,))])

    assert [(s.op, s.sample.elements, s.samples) for s in chosen] == [
        ("aten.x.default", 2, 3),
        ("aten.x.out", 3, 1),
    ]


def test_confirmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails again is listed with the smallest variant that fails."""
    small = variant("one element", "bad", "def call(device):\n    return 1\n")
    result = inquire(
        tmp_path, monkeypatch, [small, variant("same", "bad"), variant("shuffled", "x")]
    )

    (one,) = result.confirmed
    assert (one.variant, one.code, one.message) == ("one element", small["code"], "3, not 4")
    assert not one.shuffled
    assert result.dropped == ()


@pytest.mark.parametrize(
    ("variants", "why"),
    [
        ([variant("same", "good"), variant("shuffled", "bad")], "it agrees"),
        ([variant("one element", "bad")], "it agrees"),
        ([], "no variant"),
    ],
)
def test_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variants: list[dict[str, Any]], why: str
) -> None:
    """What does not fail again, or cannot be made again, is dropped with the reason."""
    result = inquire(tmp_path, monkeypatch, variants)

    assert result.confirmed == ()
    assert [(suspect.op, reason[:9]) for suspect, reason in result.dropped] == [
        ("aten.x.default", why[:9])
    ]


def agreeing(op: str, dtype: str = "float32", flags: str = "") -> Found:
    """Return an op with one sample that agreed."""
    one = found(op, 6, dtype=dtype)
    sample = replace(one.samples[0], program=digest(ADD), flags=frozenset(flags.split()))
    return replace(one, samples=(sample,), ran={0: Ran()})


def at_edges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variants: list[dict[str, Any]]
) -> tuple[Inquiry, list[str]]:
    """Take one sample to the edges; ``add``, the sample's own program, differs there."""
    fake = FakeHand(
        script={}, log=tmp_path / "log", answers={"add": DIFFERS, "bad": DIFFERS}, variants=variants
    )
    monkeypatch.setattr(crew, "Hand", lambda _: fake)
    space = Workspace(tmp_path, VERSIONS, STAGES)
    (space.samples / "programs").mkdir(exist_ok=True)
    (space.samples / "v").write_bytes(b"values")
    space.program(digest(ADD)).write_text(ADD, encoding="utf-8")
    with space.journal:
        inquest = Inquest(space, [], edge_cases(space, [agreeing("aten.x.default")]))
        work_off(inquest.tasks, "python", 1, lambda: None)
    return inquest.result(), fake.calls()


def test_edge_cases(tmp_path: Path) -> None:
    """Each program that agreed goes to the edge once, at the dtypes that have edges."""
    space = Workspace(tmp_path, VERSIONS, STAGES)
    (space.samples / "programs").mkdir()
    space.program(digest(ADD)).write_text(ADD, encoding="utf-8")
    every = [
        agreeing("aten.x.default"),
        agreeing("aten.x.out"),
        agreeing("aten.y.default", "complex64"),
        agreeing("aten.z.default", flags="host_integers"),
        found("aten.w.default", 6),
    ]

    with space.journal:
        assert [case.op for case in edge_cases(space, every)] == ["aten.x.default"]


def test_edges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What differs at an edge is looked at again there; the journal keeps the first look."""
    variants = [variant("nan", "ignored"), variant("same", "bad")]
    result, calls = at_edges(tmp_path, monkeypatch, variants)

    assert result.edges == 2
    assert {(one.edge, one.kind) for one in result.confirmed} == {
        ("nan", "values"),
        ("same", "values"),
    }
    assert calls.count("run aten.x.default add") == 2
    _, again = at_edges(tmp_path, monkeypatch, variants)
    assert again.count("run aten.x.default add") == 0


def test_index_out_of_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where eager PyTorch raises, a program that ran at all is the finding, at that edge only."""
    raises = {"raises": "IndexError: out of range", "outputs": 0}
    ran = AGREES | {"outcome": "differs", "cause": "shape", "kind": "count", "message": "1, not 0"}
    monkeypatch.setitem(DIFFERS, "kind", "count")
    monkeypatch.setitem(DIFFERS, "message", ran["message"])
    variants = [
        variant("indices", "x") | raises,
        variant("extremes", "x") | raises,
        variant("same", "bad") | raises,
    ]

    result, _ = at_edges(tmp_path, monkeypatch, variants)

    (one,) = result.confirmed
    assert (one.kind, one.edge, one.raises) == ("indices", "indices", "IndexError: out of range")
    page = as_markdown(result, {})
    assert "### x: an index out of range" in page
    assert "the kernel returns a result; eager PyTorch raises `IndexError: out of range`" in page
    assert "raises" in reproducer(one)


def discrepancy(op: str, kind: str = "values", **changes: Any) -> Discrepancy:
    """Return a confirmed discrepancy."""
    fields: dict[str, Any] = {
        "dtype": "float32",
        "message": "result 0: 3, eager PyTorch 4",
        "arguments": {"dim": 0},
        "tensors": {"self": ["float32", [1]]},
        "variant": "same",
        "edge": "",
        "raises": "",
        "code": "def call(device):\n    return torch.full([1], inf, device=device)\n",
        "shuffled": True,
        "samples": 1,
    }
    return Discrepancy(op=op, kind=kind, **(fields | changes))


PAGE = Inquiry(
    confirmed=(
        discrepancy("aten.x.default"),
        discrepancy("aten.x_.default", dtype="bfloat16", code="def call(device):\n    ...\n"),
        discrepancy("aten.y.default", "nan"),
    ),
    dropped=((suspects([found("aten.z.default", 6)])[0], "gone"),),
)


def test_groups() -> None:
    """Forms of one op stand together, the smallest reproducer first; kinds in a fixed order."""
    assert [(g.kind, g.name, len(g.members), g.first.dtype) for g in groups(PAGE)] == [
        ("nan", "y", 1, "float32"),
        ("values", "x", 2, "bfloat16"),
    ]


def test_markdown() -> None:
    """The page counts, names versions, and shows each group with where it holds and a program."""
    page = as_markdown(PAGE, {"torch": "2.13.0"})

    assert "3 disagreements (op, dtype and kind) in 2 groups. Left out are 1" in page
    assert "torch 2.13.0" in page
    assert page.index("## NaN in other places") < page.index("## Other values")
    assert "- Where: `aten.x.default` (float32), `aten.x_.default` (bfloat16)" in page
    assert page.count("```python") == 2


def test_aborts() -> None:
    """An op that ended the process twice is listed with its smallest call; once is chance."""
    ends = Problem(cause=Cause.CRASHED, message="SIGABRT: Check failed")
    samples = [replace(one, problem=ends) for one in found("aten.x.default", 6, 2).samples]
    twice = replace(found("aten.x.default", 6), samples=tuple(samples), ran={})
    once = replace(twice, op="aten.y.default", samples=tuple(samples[:1]))

    (abort,) = aborts([twice, replace(twice, dtype="int64"), once])

    assert (abort.op, abort.dtypes, abort.samples) == ("aten.x.default", ("float32", "int64"), 4)
    assert abort.tensors == {"self": ["float32", [2]]}
    page = as_markdown(Inquiry(aborts=(abort,)), {})
    assert "`aten.x.default` (float32, int64), 4 samples: SIGABRT: Check failed." in page


def test_json() -> None:
    """As JSON every discrepancy is there, and what was dropped."""
    page = json.loads(as_json(PAGE, {"torch": "2.13.0"}))

    assert page["confirmed"] == 3
    assert page["dropped"] == [
        {"op": "aten.z.default", "dtype": "float32", "kind": "values", "why": "gone"}
    ]
    assert len(page["groups"][1]["discrepancies"]) == 2


def test_reproducer_is_a_program() -> None:
    """What is printed compiles and imports what the call uses, no more."""
    text = reproducer(discrepancy("aten.x.default"))

    compile(text, "reproducer", "exec")
    assert text.startswith("from math import inf\n\nimport torch\n")
    assert 'call("tpu")' in text
    assert "b64decode" not in text
