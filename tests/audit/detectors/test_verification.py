"""What verification saw in kernels that run: emulation, disagreement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from op_registry.evidence import Cause, Tally
from op_registry.schema import Hazard
from tests.support.calls import audit, codes, finding, proofs, record, snapshot, tally, tensor, use
from tpu_audit.audit.call import Platform
from tpu_audit.types.report import Severity, Verdict

if TYPE_CHECKING:
    from tpu_audit.audit.phase import PhaseAudit

OP = "aten.made.default"
READS = (Cause.HOST_SYNC, "cannot Materialize()", 2)
OFF = "result 0: off by 0.25 at [1], 0.5 where eager PyTorch has 0.75"


def audited(dtype: str = "bfloat16", *, chip: str = "v6e", **evidence: Any) -> PhaseAudit:
    """Audit one call of an op with this evidence at ``dtype``."""
    registry = snapshot(record(OP, dtypes={dtype: proofs(**evidence)}))
    call = use(OP, tensor(4, dtype=dtype))
    return audit(call, registry=registry, platform=Platform(chip=chip))


def test_emulation_that_only_the_compiler_sees() -> None:
    """A bfloat16 op that works in 64 bits inside is a warning, on the chip where it does."""
    result = audited(emulated={"v6e": "f64"})
    found = finding("TPA912", result)
    assert found.message == f"{OP}: compiled for v6e it emulates f64"
    assert result.rows[0].hazards == (Hazard.EMULATED,)
    assert codes(audited(emulated={"v6e": "f64"}, chip="v5e")) == set()


def test_integers_inside_are_not_reported() -> None:
    """Nearly every op handles indices in 64 bits somewhere: no finding."""
    assert codes(audited(emulated={"v6e": "s64"})) == set()


@pytest.mark.parametrize(
    ("dtype", "words", "code"), [("float64", "f64", "TPA912"), ("complex64", "c64", "TPA919")]
)
def test_the_compilers_words_join_the_dtype_rule(dtype: str, words: str, code: str) -> None:
    """Where the dtype alone decides, the compiler's answer is quoted."""
    message = finding(code, audited(dtype, emulated={"v6e": words})).message
    assert f"(compiled for v6e it emulates {words})" in message


@pytest.mark.parametrize("cause", [Cause.VALUES, Cause.DTYPE, Cause.SHAPE])
def test_a_kernel_that_disagrees(cause: Cause) -> None:
    """Other values than eager PyTorch's are a warning; another dtype or shape is worth a line."""
    result = audited(numerics=tally(2, 3, (cause, OFF, 1)))
    found = finding("TPA924", result)
    values = cause is Cause.VALUES
    assert found.severity is (Severity.WARNING if values else Severity.INFO)
    assert f"in 1 of 3 samples at bfloat16 ({cause}): {OFF}" in found.message
    assert result.verdict is (Verdict.READY_WITH_WARNINGS if values else Verdict.READY)


def test_statistics_that_disagree_do_not_warn() -> None:
    """A norm's saved mean or attention's log-sum-exp decides nothing that the model computes."""
    result = audited(numerics=tally(0, 3, (Cause.VALUES, f"result 1: {OFF}", 3)))
    assert finding("TPA924", result).severity is Severity.INFO
    assert result.verdict is Verdict.READY


def test_an_op_that_disagrees_is_reported_once() -> None:
    """Two distinct calls of it make one finding."""
    evidence = {"bfloat16": proofs(numerics=tally(0, 3, (Cause.VALUES, OFF, 3)))}
    registry = snapshot(record(OP, dtypes=evidence))
    result = audit(use(OP, tensor(4)), use(OP, tensor(5)), registry=registry)
    assert finding("TPA924", result).count == 2


def test_a_result_that_nobody_reads() -> None:
    """Batch norm in evaluation fills statistics that are empty in eager PyTorch: no finding."""
    said = (Cause.SHAPE, "result 1: shape [3], eager PyTorch's is [0]", 3)
    registry = snapshot(record(OP, dtypes={"bfloat16": proofs(numerics=tally(0, 3, said))}))
    outputs = (tensor(4), tensor(0))
    assert codes(audit(use(OP, tensor(4), outputs=outputs), registry=registry)) == set()
    assert codes(audit(use(OP, tensor(4)), registry=registry)) == {"TPA924"}


@pytest.mark.parametrize("cause", [Cause.SKEW, Cause.CRASHED, Cause.TIMED_OUT])
def test_what_did_not_run_disagrees_with_nothing(cause: Cause) -> None:
    """An accident of the runner is no difference."""
    assert codes(audited(numerics=tally(2, 3, (cause, "chlo.scan", 1)))) == set()


@pytest.mark.parametrize(
    ("lowered", "read", "severity"),
    [
        (tally(8, 8), False, None),
        (tally(6, 8, READS), False, Severity.INFO),
        (tally(0, 2, READS), False, Severity.WARNING),
        (tally(6, 8, READS), True, Severity.WARNING),
    ],
)
def test_a_read_that_arguments_decide(
    lowered: Tally, severity: Severity | None, *, read: bool
) -> None:
    """Seen in some samples: silent where the dtype has none, a warning where it cannot do without.

    In between the trace decides, and where it saw no read the finding is information.
    """
    why = "reads a value back from the device in some samples: cannot Materialize()"
    evidence = {"bfloat16": proofs(lowered=lowered)}
    registry = snapshot(record(OP, hazards={Hazard.HOST_SYNC: why}, dtypes=evidence))
    result = audit(use(OP, tensor(4), host_read=read), registry=registry)
    found = [item.severity for item in result.findings]
    assert found == ([severity] if severity else [])
