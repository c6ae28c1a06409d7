"""Calls of a census that rest on registration alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from op_registry.schema import Evidence, EvidenceKind
from tests.census import evidence
from tests.census.outcome import Outcome, outcome_of
from tests.support.reports import missing_row, model, op_row, phase, report
from tpu_audit.types.trace import TensorRef

LOWERED = (Evidence(kind=EvidenceKind.LOWERED, detail="8/8 samples at bfloat16"),)
INT64 = (TensorRef(dtype="int64", shape=(2,), device="tpu"),)


def outcome(name: str) -> Outcome:
    """Return the outcome of a model with calls of every kind: 48 + 2 rest on registration."""
    rows = (
        op_row(),
        op_row("aten.arange.default", count=2, inputs=(), outputs=INT64),
        op_row("aten.add.Tensor", count=40, evidence=LOWERED),
        op_row("aten.rand.default", count=5, random=True),
        missing_row(),
    )
    made = report([model(phases=(phase(rows),))])
    return outcome_of(made, name, Path("/nowhere"), seconds=1)


def test_counted_by_op_and_dtype() -> None:
    """What is proven, random or missing does not count; a factory counts by what it makes."""
    found = outcome("a")
    assert found.registered == {
        ("aten.linear.default", "bfloat16"): 48,
        ("aten.arange.default", "int64"): 2,
    }
    assert (found.calls, found.random) == (107, 5)


def test_share_leaves_random_calls_out() -> None:
    """The share is of the calls that could have been proven."""
    assert evidence.share([outcome("a"), outcome("b")]) == pytest.approx(50 / 102)
    assert evidence.share([]) == 0


def test_section_lists_the_ops() -> None:
    """Each op with its calls and in how many configs, the commonest first."""
    text = evidence.section([outcome("a"), outcome("b")])
    lines = text.splitlines()

    assert lines[0].startswith("100 of 204 calls, 49.02% (at most 2% allowed). 10 more calls draw")
    assert lines[-2:] == [
        "| aten.linear.default | bfloat16 | 96 | 2 |",
        "| aten.arange.default | int64 | 4 | 2 |",
    ]
