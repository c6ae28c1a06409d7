"""TPA910: reads back to the host."""

from __future__ import annotations

from op_registry.schema import Hazard
from tests.support.calls import audit, codes, finding, record, snapshot, tensor, use
from tpu_audit.types.report import Severity

LOWERED = {Hazard.HOST_SYNC: "lowering it showed a host read"}


def test_a_read_seen_by_the_trace() -> None:
    """``.item()`` is a warning at its line, without any registry entry for it."""
    result = audit(use("aten._local_scalar_dense.default", tensor(), outputs=(), host_read=True))
    found = finding("TPA910", result)
    assert found.severity is Severity.WARNING
    assert found.location.line == 7
    assert result.rows[0].hazards == (Hazard.HOST_SYNC,)


def test_a_read_that_the_registry_knows() -> None:
    """What lowering showed holds for the call, and the reason is the registry's."""
    registry = snapshot(record("aten.lu.default", hazards=LOWERED))
    result = audit(use("aten.lu.default", tensor(3, 3)), registry=registry)
    assert "lowering it showed a host read" in finding("TPA910", result).message


def test_repeat_interleave_with_its_size_given() -> None:
    """With ``output_size`` nothing is read: neither host sync nor dynamic shape."""
    why = {**LOWERED, Hazard.DYNAMIC_SHAPE: "the shape depends on values"}
    registry = snapshot(record("aten.repeat_interleave.Tensor", hazards=why))
    repeats = tensor(4, dtype="int64")
    sized = use("aten.repeat_interleave.Tensor", repeats, args={"output_size": 9})
    unsized = use("aten.repeat_interleave.Tensor", repeats, args={"output_size": None})
    assert codes(audit(sized, registry=registry)) == set()
    assert codes(audit(unsized, registry=registry)) == {"TPA911"}


def test_masked_fill_with_a_host_number() -> None:
    """masked_fill reads its value back from the device, not from the host."""
    registry = snapshot(record("aten.masked_fill.Tensor", hazards=LOWERED))
    x, mask = tensor(4, 4), tensor(4, 4, dtype="bool")
    on_device = use("aten.masked_fill.Tensor", x, mask, tensor())
    on_host = use("aten.masked_fill.Tensor", x, mask, tensor(device="cpu"))
    assert codes(audit(on_device, registry=registry)) == {"TPA910"}
    assert codes(audit(on_host, registry=registry)) == set()


def test_the_fix_is_offered_when_its_ops_are_native() -> None:
    """For masked_fill the fix is a where, as soon as the registry holds where as native."""
    registry = snapshot(
        record("aten.masked_fill.Tensor", hazards=LOWERED), record("aten.where.self")
    )
    call = use("aten.masked_fill.Tensor", tensor(4), tensor(4, dtype="bool"), tensor())
    assert "torch.where(mask, s, x)" in finding("TPA910", audit(call, registry=registry)).fix
