"""What verification does to a call that has a kernel."""

from __future__ import annotations

from typing import Any

import pytest

from op_registry.evidence import Cause, Refusal
from op_registry.schema import Evidence, EvidenceKind, Fallback, OpRecord, Support
from tests.support.calls import composite, proofs, record, snapshot, tally, tensor, use
from tpu_audit.audit.call import Judgement, Platform
from tpu_audit.audit.support import judge

KINDS = EvidenceKind
SORT = "aten.sort.default"
NO_SORT = (Cause.REJECTED, "sort(): complex numbers have no order", 4)


def sort(**fields: Any) -> OpRecord:
    """Return a record of an op with a kernel."""
    schema = "aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor, Tensor)"
    return record(SORT, schema=schema, **fields)


def judged(
    registry: OpRecord, *, chip: str = "v6e", dtype: str = "bfloat16", **args: Any
) -> Judgement:
    """Judge one call of ``registry``'s op."""
    call = use(registry.op, tensor(2, 3, dtype=dtype), args=args)
    return judge(call, snapshot(registry), Platform(chip=chip))


def test_the_strongest_facts_come_first() -> None:
    """Each step is one piece of evidence with its count; what the op means stands last."""
    known = sort(
        dtypes={"bfloat16": proofs()},
        reference="torch._refs.sort",
        reference_checks={"bfloat16": "12/12"},
    )
    found = judged(known)

    assert found.support is Support.NATIVE
    assert [(item.kind, item.detail, item.chip) for item in found.evidence] == [
        (KINDS.NUMERICS, "3/3 samples at bfloat16 agree with eager PyTorch", None),
        (KINDS.COMPILED, "2/2 programs at bfloat16", "v6e"),
        (KINDS.LOWERED, "8/8 samples at bfloat16", None),
        (KINDS.REGISTERED, "table entry of aten.sort.default", None),
        (
            KINDS.REFERENCE,
            "torch._refs.sort agrees with eager PyTorch in 12/12 samples at bfloat16",
            None,
        ),
    ]


def test_a_compilers_answer_counts_for_its_chip() -> None:
    """Evidence names the chip asked for, and no other chip's stands in for it."""
    known = sort(dtypes={"bfloat16": proofs()})

    assert judged(known, chip="v5e").evidence[1].detail == "1/1 programs at bfloat16"
    assert KINDS.COMPILED not in {item.kind for item in judged(known, chip="tpu7x").evidence}


def test_a_dtype_nobody_tried_is_registered_only() -> None:
    """Proof at one dtype proves nothing at another: native by the table, and the table alone."""
    found = judged(sort(dtypes={"float32": proofs()}))

    assert found.support is Support.NATIVE
    assert [item.kind for item in found.evidence] == [KINDS.REGISTERED]


@pytest.mark.parametrize(
    ("cause", "support"),
    [(Cause.REJECTED, Support.REJECTED), (Cause.NOT_IMPLEMENTED, Support.MISSING)],
)
def test_a_dtype_of_which_no_sample_lowered(cause: Cause, support: Support) -> None:
    """When the kernel refused every sample of a dtype, the call raises, with its message."""
    lowered = tally(0, 4, (cause, "sort(): no", 4))
    known = sort(dtypes={"complex64": proofs(lowered=lowered, compiled={}, numerics=tally(0, 0))})
    found = judged(known, dtype="complex64")

    assert (found.support, found.reason, found.culprits) == (support, "sort(): no", (SORT,))
    assert found.evidence[0].kind is KINDS.LOWERED
    assert found.evidence[0].detail == "none of 4 samples at complex64 lowered: sort(): no"


def test_a_piece_that_is_missing_is_the_culprit() -> None:
    """The message that the wheel raises names the op that lacks a kernel."""
    text = "operator 'aten::linalg_eigh' is not implemented for TPU. Please file a request"
    lowered = tally(0, 4, (Cause.NOT_IMPLEMENTED, text, 4))
    known = sort(dtypes={"bfloat16": proofs(lowered=lowered)}, cpu_kernel=True)
    found = judged(known)

    assert found.culprits == ("aten.linalg_eigh.default",)
    assert found.fallback is Fallback.CPU_IF_ENABLED


@pytest.mark.parametrize(
    "said",
    [
        [(Cause.TIMED_OUT, "30 s", 4)],
        [(Cause.CRASHED, "signal 11", 4)],
        [NO_SORT, (Cause.OTHER, "who knows", 1)],
    ],
)
def test_accidents_refuse_nothing(said: list[tuple[Cause, str, int]]) -> None:
    """A crash or a time-out says nothing of the kernel: registered, with what happened."""
    lowered = tally(0, 5, *said)
    known = sort(dtypes={"bfloat16": proofs(lowered=lowered, compiled={}, numerics=tally(0, 0))})
    found = judged(known)

    assert found.support is Support.NATIVE
    assert {item.kind for item in found.evidence} == {KINDS.REGISTERED}
    assert said[0][1] in found.evidence[0].detail


def test_one_refused_sample_refuses_no_dtype() -> None:
    """Seven of eight samples lowered: the call is native by those."""
    lowered = tally(7, 8, (Cause.REJECTED, "dim 9", 1))
    found = judged(sort(dtypes={"bfloat16": proofs(lowered=lowered)}))

    assert found.support is Support.NATIVE
    assert found.evidence[2].detail == "7/8 samples at bfloat16"


def test_the_compiler_of_the_chip_refuses() -> None:
    """Refused for v5e is rejected there, with the compiler's words, and native on v6e."""
    refuses = tally(0, 1, (Cause.REJECTED, "UNIMPLEMENTED: dot_general s64", 1))
    known = sort(dtypes={"int64": proofs(compiled={"v5e": refuses, "v6e": tally(2, 2)})})
    found = judged(known, chip="v5e", dtype="int64")

    assert (found.support, found.reason) == (Support.REJECTED, "UNIMPLEMENTED: dot_general s64")
    assert (found.evidence[0].kind, found.evidence[0].chip) == (KINDS.COMPILED, "v5e")
    assert judged(known, chip="v6e", dtype="int64").support is Support.NATIVE


@pytest.mark.parametrize("cause", [Cause.SKEW, Cause.TIMED_OUT])
def test_tools_that_do_not_fit_refuse_nothing(cause: Cause) -> None:
    """Version skew and time-outs of the compiler leave the call native."""
    unfit = tally(0, 2, (cause, "vhlo.composite_v2", 2))
    found = judged(sort(dtypes={"bfloat16": proofs(compiled={"v6e": unfit})}))

    assert found.support is Support.NATIVE
    assert KINDS.COMPILED not in {item.kind for item in found.evidence}


@pytest.mark.parametrize(
    ("args", "refused"),
    [({"descending": True}, True), ({"descending": False}, False), ({}, False)],
)
def test_refused_arguments(args: dict[str, Any], *, refused: bool) -> None:
    """A refusal meets the calls with its arguments, whatever other samples showed."""
    refusal = Refusal(
        message="descending: not yet", when={"descending": True}, dtypes=("bfloat16",)
    )
    found = judged(sort(dtypes={"bfloat16": proofs()}, refusals=(refusal,)), **args)

    assert (found.support is Support.REJECTED) is refused
    if refused:
        assert found.reason == "descending: not yet"
        assert found.evidence[0].detail.startswith("refuses descending=True at bfloat16")


def test_a_default_can_be_refused() -> None:
    """An argument that the call leaves out has the schema's value."""
    refusal = Refusal(message="dim -1: no", when={"dim": -1}, dtypes=("bfloat16",))
    known = sort(refusals=(refusal,))

    assert judged(known).support is Support.REJECTED
    assert judged(known, dim=0).support is Support.NATIVE
    assert judged(known, dtype="float32").support is Support.NATIVE


def test_a_host_read_is_evidence_and_no_refusal() -> None:
    """A kernel that was entered and asked for a value is there: lowering showed it."""
    lowered = tally(0, 4, (Cause.HOST_SYNC, "cannot Materialize() a placeholder", 4))
    known = sort(dtypes={"bfloat16": proofs(lowered=lowered, compiled={}, numerics=tally(0, 0))})
    found = judged(known)

    assert found.support is Support.NATIVE
    assert found.evidence[0].kind is KINDS.LOWERED
    assert "Materialize" in found.evidence[0].detail


def test_random_numbers_are_labelled() -> None:
    """What draws random numbers is registered, and says why nothing more can be shown."""
    found = judged(sort(random=True))

    assert {item.kind for item in found.evidence} == {KINDS.REGISTERED}
    assert found.evidence[-1].detail == "draws random numbers: cannot be lowered without a device"


def test_a_random_op_that_lowered_is_proven() -> None:
    """Dropout in evaluation draws nothing: its samples lowered, and the label is not needed."""
    found = judged(sort(random=True, dtypes={"bfloat16": proofs()}))
    assert "draws" not in " ".join(item.detail for item in found.evidence)


def test_sums_over_dtypes_prove_nothing_of_one() -> None:
    """An op's own list counts samples of all dtypes: a call at another dtype rests on none."""
    total = Evidence(kind=KINDS.NUMERICS, detail="3 of 3 samples at 1 dtype agreed")
    listed = (Evidence(kind=KINDS.REGISTERED, detail="table entry"), total)
    known = sort(dtypes={"float32": proofs()}, evidence=listed)

    assert [item.detail for item in judged(known).evidence] == ["table entry"]
    assert total not in judged(known, dtype="float32").evidence


def test_the_error_names_what_is_missing() -> None:
    """A record that verification found missing has the culprit in its reason."""
    reason = "a TPU kernel; and yet it stops: operator 'aten::gone' is not implemented for TPU"
    known = record(SORT, Support.MISSING, reason=reason)
    assert judged(known).culprits == ("aten.gone.default",)


def test_numbers_on_the_host_decide_no_dtype() -> None:
    """A float64 number from Python beside a bfloat16 tensor is filed under bfloat16."""
    call = use(SORT, tensor(dtype="float64", device="cpu"), tensor(4))
    found = judge(call, snapshot(sort(dtypes={"bfloat16": proofs()})))

    assert found.dtype == "bfloat16"
    assert found.evidence[0].kind is KINDS.NUMERICS


def test_a_factory_is_filed_under_what_it_makes() -> None:
    """Without input tensors the output's dtype counts."""
    known = sort(dtypes={"int64": proofs()})
    found = judge(use(SORT, outputs=(tensor(4, dtype="int64"),)), snapshot(known))

    assert found.evidence[0].kind is KINDS.NUMERICS


def test_a_composite_is_as_proven_as_its_weakest_piece() -> None:
    """Without samples of its own a composite rests on what it ends in."""
    weak = proofs(compiled={}, numerics=tally(0, 0))
    pieces = (
        record("aten.a.default", dtypes={"bfloat16": proofs()}),
        record("aten.b.default", dtypes={"bfloat16": weak}),
    )
    outer = composite("aten.wrap.default", Support.NATIVE, ends_in=tuple(p.op for p in pieces))
    found = judge(use("aten.wrap.default", tensor(2)), snapshot(outer, *pieces))

    assert found.evidence[0].kind is KINDS.LOWERED
    assert "aten.a.default, aten.b.default" in found.evidence[0].detail

    unproven = snapshot(outer, pieces[0], record("aten.b.default"))
    found = judge(use("aten.wrap.default", tensor(2)), unproven)
    assert [item.kind for item in found.evidence] == [KINDS.REGISTERED]


def test_evidence_decides_an_exotic_dtype() -> None:
    """A dtype held back for want of evidence is let through once there is some."""
    assert judged(sort(), dtype="int4").support is Support.UNKNOWN
    assert judged(sort(dtypes={"int4": proofs()}), dtype="int4").support is Support.NATIVE
