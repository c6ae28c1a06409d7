"""Answers survive the way through JSON."""

from __future__ import annotations

import json

from op_registry.toolchain.answers import Compilation, Execution, Memory, Outcome


def test_compilation() -> None:
    """Every field comes back as it was, with memory and without."""
    full = Compilation(
        outcome=Outcome.OK,
        rewritten=("chlo.scan unrolled",),
        memory=Memory(arguments=1, outputs=2, temporaries=3, aliases=4, code=5),
        flops=6.0,
        bytes_accessed=7.0,
        optimal_seconds=8.0,
        unestimated=9,
        operations=10,
        instructions=11,
        emulation=("f64 in pairs of f32",),
        custom_calls=("Qr",),
    )
    refused = Compilation(outcome=Outcome.REFUSED, message="no")
    for answer in (full, refused):
        assert Compilation.from_json(json.loads(json.dumps(answer.to_json()))) == answer


def test_execution() -> None:
    """Shapes are tuples again, the outcome is one of the enumeration."""
    full = Execution(outcome=Outcome.OK, dtypes=("bool", "int8"), shapes=((), (2, 3)))
    skew = Execution(outcome=Outcome.SKEW, message="old")
    for answer in (full, skew):
        assert Execution.from_json(json.loads(json.dumps(answer.to_json()))) == answer
