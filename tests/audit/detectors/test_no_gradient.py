"""TPA915: outputs that are cut off from autograd."""

from __future__ import annotations

from op_registry.schema import Hazard
from tests.support.calls import audit, codes, finding, record, snapshot, tensor, use
from tpu_audit.types.report import Severity, Verdict

WHY = "a TPU kernel stands over a composite"
POOL = snapshot(record("aten.avg_pool1d.default", hazards={Hazard.NO_GRADIENT: WHY}))


def test_information_in_a_forward_pass() -> None:
    """Inference is not affected: information, and the verdict stays ready."""
    result = audit(use("aten.avg_pool1d.default", tensor(1, 2, 8)), registry=POOL)
    found = finding("TPA915", result)
    assert found.severity is Severity.INFO
    assert "inference is not affected" in found.message
    assert result.verdict is Verdict.READY
    assert result.rows[0].hazards == (Hazard.NO_GRADIENT,)


def test_an_error_in_training() -> None:
    """Where a gradient should pass, losing it silently is an error."""
    call = use("aten.avg_pool1d.default", tensor(1, 2, 8), grad_inputs=True)
    result = audit(call, registry=POOL, phase="train")
    assert finding("TPA915", result).severity is Severity.ERROR
    assert result.verdict is Verdict.BLOCKED


def test_nothing_to_lose_in_training() -> None:
    """Inputs without grad have none to lose."""
    call = use("aten.avg_pool1d.default", tensor(1, 2, 8))
    assert codes(audit(call, registry=POOL, phase="train")) == set()


def test_a_warning_in_training_where_eager_keeps_it() -> None:
    """A gradient that only a traced graph loses does not block."""
    lstm = record("aten.lstm.input", hazards={Hazard.NO_GRADIENT: WHY}, eager_gradient=True)
    call = use("aten.lstm.input", tensor(1, 2, 8), grad_inputs=True)
    result = audit(call, registry=snapshot(lstm), phase="train")
    assert finding("TPA915", result).severity is Severity.WARNING
    assert result.verdict is Verdict.READY_WITH_WARNINGS
