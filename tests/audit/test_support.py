"""Whether a call runs: registry, composites, absent ops."""

from __future__ import annotations

import pytest

from op_registry.schema import EndsIn, EvidenceKind, Fallback, Resolution, Support
from tests.support.calls import composite, record, snapshot, tensor, use
from tpu_audit.audit.support import judge

MISH = record("aten.mish.out", Support.MISSING)
TANH = record("aten.tanh.default")


def test_kernel_is_native_with_the_registrys_evidence() -> None:
    """A registered kernel makes a call native, and the table entry is the evidence."""
    found = judge(use("aten.tanh.default", tensor(2)), snapshot(TANH))
    assert found.support is Support.NATIVE
    assert found.evidence == TANH.evidence


def test_missing_op_carries_its_fallback() -> None:
    """A missing op says what the CPU fallback could do."""
    found = judge(use("aten.mish.out", tensor(2)), snapshot(MISH))
    assert (found.support, found.fallback) == (Support.MISSING, Fallback.CPU_IF_ENABLED)
    assert found.culprits == ("aten.mish.out",)


def test_structured_op_names_the_piece_that_is_missing() -> None:
    """An op that is missing through its delegate names the delegate as the culprit."""
    outer = composite(
        "aten.mish.default",
        Support.MISSING,
        ends_in=("aten.mish.out",),
        ends_in_how=EndsIn.STRUCTURED,
        fallback=Fallback.CPU_IF_ENABLED,
    )
    found = judge(use("aten.mish.default", tensor(2)), snapshot(outer, MISH))
    assert found.support is Support.MISSING
    assert found.culprits == ("aten.mish.out",)


def test_absent_overload_is_unknown() -> None:
    """An overload the registry lacks is unknown, with the registry's versions in the reason."""
    found = judge(use("aten.new_op.default", tensor(2)), snapshot(TANH))
    assert found.support is Support.UNKNOWN
    assert "torch-tpu 9.9 with torch 2.13.0 has no such overload" in found.reason


def test_absent_namespace_is_named() -> None:
    """An op of another library says so: no kernel of the wheel can be meant for it."""
    found = judge(use("torchvision.nms.default", tensor(2)), snapshot(TANH))
    assert found.support is Support.UNKNOWN
    assert "namespace `torchvision`" in found.reason


def test_composite_is_native_when_the_trace_saw_native_pieces() -> None:
    """An undecided composite whose observed pieces all have kernels is native, by that evidence."""
    seen = use("aten.wrap.default", tensor(2), ends_in=("aten.tanh.default",))
    found = judge(seen, snapshot(composite("aten.wrap.default"), TANH))
    assert found.support is Support.NATIVE
    assert "ended in aten.tanh.default" in found.evidence[0].detail
    assert found.evidence[0].kind is EvidenceKind.REGISTERED


def test_composite_without_pieces_needs_no_kernel() -> None:
    """A composite that called nothing further is native."""
    found = judge(
        use("aten.wrap.default", tensor(2), ends_in=()), snapshot(composite("aten.wrap.default"))
    )
    assert found.support is Support.NATIVE


def test_composite_is_missing_when_a_piece_is() -> None:
    """One missing piece makes the composite missing, with the piece's fallback."""
    seen = use("aten.wrap.default", tensor(2), ends_in=("aten.tanh.default", "aten.mish.out"))
    found = judge(seen, snapshot(composite("aten.wrap.default"), TANH, MISH))
    assert found.support is Support.MISSING
    assert found.culprits == ("aten.mish.out",)
    assert found.fallback is Fallback.CPU_IF_ENABLED


def test_composite_with_an_undecided_piece_stays_unknown() -> None:
    """A piece nobody decided is never counted as native."""
    seen = use("aten.wrap.default", tensor(2), ends_in=("aten.tanh.default", "aten.gone.default"))
    found = judge(seen, snapshot(composite("aten.wrap.default"), TANH))
    assert found.support is Support.UNKNOWN
    assert found.culprits == ("aten.gone.default",)


def test_pieces_seen_in_the_trace_beat_the_registrys_samples() -> None:
    """Samples with other tensors ended in a missing op; these tensors did not."""
    sampled = composite(
        "aten.wrap.default",
        Support.MISSING,
        ends_in=("aten.mish.out",),
        ends_in_how=EndsIn.OBSERVED,
    )
    seen = use("aten.wrap.default", tensor(2), ends_in=("aten.tanh.default",))
    assert judge(seen, snapshot(sampled, TANH, MISH)).support is Support.NATIVE


def test_a_kernel_is_not_judged_by_pieces() -> None:
    """An op with a kernel of its own is native whatever its composite would end in."""
    seen = use("aten.tanh.default", tensor(2), ends_in=("aten.mish.out",))
    assert judge(seen, snapshot(TANH, MISH)).support is Support.NATIVE


@pytest.mark.parametrize("dtype", ["complex32", "qint8", "quint4x2", "uint4", "int7", "bits8"])
def test_exotic_dtypes_are_undecided(dtype: str) -> None:
    """A kernel's existence is no evidence for dtypes a TPU tensor may not even have."""
    found = judge(use("aten.tanh.default", tensor(2, dtype=dtype)), snapshot(TANH))
    assert found.support is Support.UNKNOWN
    assert dtype in found.reason


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float8_e4m3fn", "complex64", "bool"])
def test_ordinary_dtypes_are_decided_by_the_kernel(dtype: str) -> None:
    """Dtypes of whole bytes are not held back."""
    found = judge(use("aten.tanh.default", tensor(2, dtype=dtype)), snapshot(TANH))
    assert found.support is Support.NATIVE


def test_rejected_is_passed_on() -> None:
    """What the registry holds as rejected is rejected, for its reason."""
    refused = record("aten.mm.default", Support.REJECTED, reason="mm(): not implemented for int64")
    found = judge(use("aten.mm.default", tensor(2, 2, dtype="int64")), snapshot(refused))
    assert (found.support, found.reason) == (Support.REJECTED, refused.reason)
    assert refused.privateuse1 is Resolution.KERNEL
