"""A slice of the verification, chosen by a hash, gives what the packaged registry says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from op_registry.evidence import DtypeEvidence, Tally, of
from op_registry.loader import load
from op_registry.toolchain.chips import CHIPS
from op_registry.verify.plan import Selection
from op_registry.verify.run import Verification
from op_registry.verify.summary import summarise
from op_registry.verify.tools import find_tools
from tests.support.wheel import PYTHON, needs_wheel

if TYPE_CHECKING:
    from pathlib import Path

OPS = 60
DTYPES = ("float32", "bfloat16", "int64")
STAGES = ("lower", "compile", "numerics")


@needs_wheel
@pytest.mark.timeout(900)
def test_slice(tmp_path: Path) -> None:
    """Sixty ops at three dtypes lower, compile, agree and fail as the evidence says."""
    tools = find_tools(PYTHON)
    packaged = load(tools.registry)
    if not any(record.dtypes for record in packaged.ops.values()):
        pytest.skip("the packaged registry of these versions holds no evidence")
    chosen = Selection(dtypes=DTYPES, chips=tuple(CHIPS), limit=OPS, stages=STAGES)

    with Verification(packaged, tools, tmp_path, chosen) as verification:
        found = verification.run(2, lambda _: None).found

    after = {(one.op, one.dtype): said(summarise(one)) for of_op in found.values() for one in of_op}
    before = {
        (op, dtype): said(evidence)
        for op in verification.ops
        for dtype in DTYPES
        if (evidence := of(packaged.ops[op], dtype)) is not None
    }
    assert len(before) >= OPS
    assert {key: after.get(key) for key in before} == before


def said(evidence: DtypeEvidence) -> dict[str, object]:
    """Return what has to come out again: numbers in a message may differ between processors."""
    return {
        "lowered": counts(evidence.lowered),
        "compiled": {chip: counts(tally) for chip, tally in evidence.compiled.items()},
        "emulated": dict(evidence.emulated),
        "numerics": counts(evidence.numerics),
    }


def counts(tally: Tally) -> tuple[object, ...]:
    """Return how many passed, and how many of the others met which cause."""
    causes = Counter[str]()
    for one in tally.said:
        causes[one.cause.value] += one.samples
    return (tally.passed, tally.tried, *sorted(causes.items()))
