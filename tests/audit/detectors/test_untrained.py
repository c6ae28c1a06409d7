"""TPA926: parameters that end a training step without a gradient."""

from __future__ import annotations

from op_registry.schema import Hazard
from tests.support.calls import audit, codes, finding, record, snapshot, tensor, use
from tpu_audit.types.report import Severity, Verdict
from tpu_audit.types.trace import LostGradient

OP = "aten.avg_pool1d.default"
POOL = snapshot(record(OP, hazards={Hazard.NO_GRADIENT: "a TPU kernel stands over a composite"}))
CALL = use(OP, tensor(1, 2, 8), grad_inputs=True)


def lost(*names: str, op: str | None = OP) -> tuple[LostGradient, ...]:
    """Return these parameters as cut off by ``op``."""
    return tuple(LostGradient(parameter=name, op=op) for name in names)


def test_one_finding_for_an_op_and_what_it_costs() -> None:
    """The op is not reported a second time for the same cut, and stays marked in the rows."""
    found = audit(CALL, registry=POOL, phase="train", lost=lost("a.weight", "a.bias"))

    one = finding("TPA926", found)
    assert codes(found) == {"TPA926"}
    assert one.severity is Severity.ERROR
    assert "2 parameters end the step without a gradient" in one.message
    assert "a.weight, a.bias: a TPU kernel stands over" in one.message
    assert one.modules == ("encoder.layer.0",)
    assert found.rows[0].hazards == (Hazard.NO_GRADIENT,)
    assert found.verdict is Verdict.BLOCKED


def test_many_parameters_are_counted() -> None:
    """A sentence names the first few."""
    names = [f"layer.{i}.weight" for i in range(9)]
    found = audit(CALL, registry=POOL, phase="train", lost=lost(*names))

    assert "layer.2.weight and 6 more" in finding("TPA926", found).message


def test_a_cut_that_costs_no_parameter_stays_the_ops() -> None:
    """Where other paths bring gradients as well, they are still incomplete."""
    assert codes(audit(CALL, registry=POOL, phase="train")) == {"TPA915"}


def test_an_unknown_cut_is_an_error_of_its_own() -> None:
    """What the CPU shows counts, whether an op is known for it or not."""
    found = audit(use("aten.add.Tensor", tensor(2)), phase="train", lost=lost("b", op=None))

    one = finding("TPA926", found)
    assert one.op is None
    assert "1 parameter ends the step" in one.message
    assert "which op cuts them off is not known" in one.message
    assert found.verdict is Verdict.BLOCKED
