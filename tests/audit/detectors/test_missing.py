"""TPA901 to TPA903: missing, rejected, undecided."""

from __future__ import annotations

import pytest

from op_registry.schema import EndsIn, Fallback, Support
from tests.support.calls import audit, composite, finding, record, snapshot, tensor, use
from tpu_audit.audit import advice
from tpu_audit.audit.detectors.missing import dispatcher_name
from tpu_audit.types.report import Severity


@pytest.mark.parametrize(
    ("op", "name"),
    [("aten.mish.default", "aten::mish"), ("aten.mish.out", "aten::mish.out")],
)
def test_dispatcher_names(op: str, name: str) -> None:
    """Names are spelled as the error message spells them."""
    assert dispatcher_name(op) == name


def test_the_message_quotes_the_error_that_will_be_seen() -> None:
    """A structured op raises under its delegate's name, and the finding says that name."""
    outer = composite(
        "aten.mish.default",
        Support.MISSING,
        ends_in=("aten.mish.out",),
        ends_in_how=EndsIn.STRUCTURED,
        fallback=Fallback.CPU_IF_ENABLED,
    )
    registry = snapshot(outer, record("aten.mish.out", Support.MISSING))
    found = finding("TPA901", audit(use("aten.mish.default", tensor(4)), registry=registry))
    assert found.severity is Severity.ERROR
    assert "operator 'aten::mish.out' is not implemented for TPU" in found.message


def test_no_bytes_without_a_fallback() -> None:
    """Where no CPU kernel could take over, nothing would move."""
    never = record("aten.cudnn_rnn.default", Support.MISSING, fallback=Fallback.NEVER)
    result = audit(use("aten.cudnn_rnn.default", tensor(4)), registry=snapshot(never))
    found = finding("TPA901", result)
    assert found.bytes == 0
    assert "No CPU kernel" in found.message
    assert result.rows[0].fallback is Fallback.NEVER


def test_the_fix_names_a_replacement_that_the_registry_backs() -> None:
    """Mish can be written with native ops when they are native, else the fix is general."""
    mish = record("aten.mish.default", Support.MISSING)
    native = map(record, advice.REPLACEMENTS["aten.mish"].uses)
    call = use("aten.mish.default", tensor(4))
    backed = finding("TPA901", audit(call, registry=snapshot(mish, *native)))
    assert "x * torch.tanh(F.softplus(x))" in backed.fix
    assert "softplus" not in finding("TPA901", audit(call, registry=snapshot(mish))).fix


def test_rejected() -> None:
    """A refused dtype is an error that names dtype and the kernel's message."""
    refused = record("aten.mm.default", Support.REJECTED, reason="not implemented for int64")
    call = use("aten.mm.default", tensor(2, 2, dtype="int64"))
    found = finding("TPA902", audit(call, registry=snapshot(refused)))
    assert found.severity is Severity.ERROR
    assert "refused for int64: not implemented for int64" in found.message


def test_undecided() -> None:
    """An op of another library is a warning that says what is not known."""
    found = finding("TPA903", audit(use("made.up.default", tensor(2)), registry=snapshot()))
    assert found.severity is Severity.WARNING
    assert "not decided" in found.message
