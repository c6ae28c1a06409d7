"""Reference kernels of the ops that a census meets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from op_registry.schema import Support
from tests.census import references
from tests.census.outcome import Outcome, outcome_of
from tests.support.calls import record, snapshot
from tests.support.reports import model, op_row, phase, report

CHECKED: dict[str, Any] = {"reference": "torch._refs.add", "reference_checks": {"float32": "8/8"}}
SNAPSHOT = snapshot(
    record("aten.add.Tensor", **CHECKED),
    record("aten.mul.Tensor", reference="torch._refs.mul"),
    record("aten.sub.Tensor"),
    record("aten.rand.default", reference="torch._refs.rand", random=True),
    record("aten.median.default", support=Support.MISSING, reference_note="sorts by hand"),
)


def outcome(*ops: str) -> Outcome:
    """Return the outcome of a model that calls each of ``ops`` three times."""
    rows = tuple(op_row(op, count=3) for op in ops)
    made = report([model(phases=(phase(rows),))])
    return outcome_of(made, "a", Path("/nowhere"), seconds=1)


def test_what_lacks_what() -> None:
    """A kernel and a result are asked for, and no result of what is random."""
    assert references.lacking(SNAPSHOT.ops, SNAPSHOT) == {
        "aten.median.default": "no reference kernel: sorts by hand",
        "aten.mul.Tensor": "no numeric result",
        "aten.sub.Tensor": "no reference kernel",
    }
    assert references.unexplained(SNAPSHOT.ops, SNAPSHOT) == ["aten.mul.Tensor", "aten.sub.Tensor"]


def test_section_lists_the_commonest_first() -> None:
    """Only what was met counts."""
    outcomes = [outcome("aten.add.Tensor", "aten.sub.Tensor"), outcome("aten.add.Tensor")]
    assert references.met(outcomes) == {"aten.add.Tensor": 6, "aten.sub.Tensor": 3}
    lines = references.section(outcomes, SNAPSHOT).splitlines()
    assert lines[0].startswith("2 op overloads are met: 2 native, 0 missing; 1 have")
    assert lines[-1] == "| aten.sub.Tensor | 3 | no reference kernel |"
