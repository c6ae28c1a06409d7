"""Sums and groups that formats share."""

from __future__ import annotations

from op_registry.schema import Evidence, EvidenceKind, Hazard, Support
from tests.support.reports import missing_finding, missing_row, op_row, phase, report, sync_row
from tpu_audit.render.summary import (
    by_hazard,
    by_support,
    causes,
    random_calls,
    registered_only,
)
from tpu_audit.types.report import Severity


def test_costs_add_up_by_support() -> None:
    """Calls, FLOPs and bytes land at their support; FLOPs that nobody counted are said."""
    costs = by_support(phase([op_row(), op_row("aten.add.Tensor"), missing_row()]))

    assert list(costs) == [Support.NATIVE, Support.MISSING]
    assert costs[Support.NATIVE].calls == 96
    assert costs[Support.NATIVE].flops == 2 * 7_247_757_312
    assert costs[Support.MISSING].uncounted == 12


def test_hazards_that_were_met() -> None:
    """Only hazards that some call has are listed."""
    assert {name: cost.calls for name, cost in by_hazard(phase()).items()} == {Hazard.HOST_SYNC: 1}


def test_evidence_from_the_table_alone() -> None:
    """Neither missing, nor random, nor proven calls count as resting on registration alone."""
    drawn = op_row("aten.rand.default", count=5, random=True)
    lowered = (Evidence(kind=EvidenceKind.LOWERED, detail="8/8 samples at bfloat16"),)
    proven = op_row("aten.add.Tensor", evidence=(*lowered, *op_row().evidence))
    met = phase([op_row(), missing_row(), sync_row(), drawn, proven])

    assert registered_only(met) == 49
    assert random_calls(met) == 5


def test_one_cause_in_many_models() -> None:
    """One sentence about two models, ops and sizes is one cause; another sentence is another."""
    found = causes(
        report(
            findings=[
                missing_finding(model="a", message="raises; 4.5 MiB would cross", count=2),
                missing_finding(model="b", message="raises; 131 KiB would cross", op="b", count=3),
                missing_finding(model="a", message="refuses integers"),
                missing_finding(severity=Severity.INFO, count=500),
            ]
        )
    )

    assert [cause.calls for cause in found] == [12, 5, 500]
    assert found[1].models == ("a", "b")
    assert found[1].ops == ("aten.mish.default", "b")
    assert found[1].modules == ("bert.encoder.layer.[0-11].attention.self.query",)
