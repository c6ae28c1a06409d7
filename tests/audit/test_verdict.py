"""The verdict's order: blocked, unknown, ready with warnings, ready."""

from __future__ import annotations

from op_registry.schema import Support
from tests.support.calls import audit, record, snapshot, tensor, use
from tpu_audit.types.report import Verdict

GOOD = use("aten.tanh.default", tensor(2))
READS = use("aten._local_scalar_dense.default", tensor(), outputs=(), host_read=True)
GONE = use("aten.gone.default", tensor(2))
MISH = use("aten.mish.default", tensor(2))
REGISTRY = snapshot(
    record("aten.tanh.default"),
    record("aten._local_scalar_dense.default"),
    record("aten.mish.default", Support.MISSING),
)


def test_ready() -> None:
    """Native calls without findings are ready."""
    assert audit(GOOD, registry=REGISTRY).verdict is Verdict.READY


def test_a_warning_is_a_warning() -> None:
    """A host sync alone gives ready_with_warnings."""
    assert audit(GOOD, READS, registry=REGISTRY).verdict is Verdict.READY_WITH_WARNINGS


def test_undecided_outranks_warnings() -> None:
    """One undecided call makes the phase unknown."""
    assert audit(GOOD, READS, GONE, registry=REGISTRY).verdict is Verdict.UNKNOWN


def test_missing_outranks_undecided() -> None:
    """A missing op blocks, whatever else is unknown."""
    assert audit(GOOD, GONE, MISH, registry=REGISTRY).verdict is Verdict.BLOCKED


def test_rejected_blocks() -> None:
    """A rejected call blocks as a missing one does."""
    registry = snapshot(record("aten.tanh.default", Support.REJECTED, reason="not for bfloat16"))
    assert audit(GOOD, registry=registry).verdict is Verdict.BLOCKED


def test_a_guess_is_never_ready() -> None:
    """A guessed value means another course was possible: never plain ready."""
    guessed = use("aten.tanh.default", tensor(2), guesses=1)
    result = audit(guessed, registry=REGISTRY)
    assert result.verdict is Verdict.READY_WITH_WARNINGS
    assert {f.severity.value for f in result.findings} == {"info"}


def test_information_alone_is_ready() -> None:
    """complex64 compute is worth knowing and costs no verdict."""
    result = audit(use("aten.tanh.default", tensor(4, dtype="complex64")), registry=REGISTRY)
    assert result.verdict is Verdict.READY
    assert result.findings
