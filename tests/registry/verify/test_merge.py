"""How findings become evidence in a snapshot."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from op_registry.codec import decode, encode
from op_registry.evidence import Cause, Said, Tally, of
from op_registry.schema import EvidenceKind, Hazard, OpRecord, Resolution, Snapshot, Support
from op_registry.verify.facts import Compiled, Found, Problem, Ran
from op_registry.verify.merge import merge, merge_op
from op_registry.verify.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Callable

    Make: TypeAlias = Callable[..., Found]
    MakeRecord: TypeAlias = Callable[..., OpRecord]

NO = (Cause.REJECTED, "no")
SYNC = (Cause.HOST_SYNC, "equal(): cannot record EventSnapshot during an FX trace")
OP = "aten.x.default"


def complete(found: Found) -> Found:
    """Add results of every stage to two lowered samples."""
    wrong = Problem(cause=Cause.VALUES, message="result 0: 1 of 6 differ")
    skew = Problem(cause=Cause.SKEW, message="vhlo")
    return replace(
        found,
        compiled={
            "v6e": {"p": Compiled(emulates=("f64",)), "q": Compiled(problem=skew)},
            "v5e": {"p": Compiled(notes=("chlo.scan unrolled",))},
        },
        ran={0: Ran(), 1: Ran(problem=wrong, kind="values")},
        gradient={0: None},
    )


def test_summary(make_found: Make) -> None:
    """Every stage is counted, messages with their samples, skew apart from refusals."""
    found = complete(make_found("float64", ({}, None), ({}, None), ({}, NO), ({}, NO)))

    evidence = summarise(found)

    said = (Said(cause=Cause.REJECTED, message="no", samples=2),)
    assert evidence.lowered == Tally(passed=2, tried=4, said=said)
    assert evidence.compiled["v6e"].said[0].cause is Cause.SKEW
    assert evidence.compiled["v5e"] == Tally(passed=1, tried=1)
    assert evidence.emulated == {"v6e": "f64"}
    assert (evidence.numerics.passed, evidence.numerics.tried) == (1, 2)
    assert evidence.gradient == Tally(passed=1, tried=1)
    assert evidence.notes == ("chlo.scan unrolled",)


def test_emulated_by_an_argument(make_found: Make) -> None:
    """A program that emulates beside one that does not says nothing about the dtype."""
    both = {"p": Compiled(emulates=("f64", "s64")), "q": Compiled(emulates=("s64",))}
    found = replace(make_found("float32", ({}, None)), compiled={"v6e": both})

    assert summarise(found).emulated == {"v6e": "s64"}


def test_record(make_record: MakeRecord, make_found: Make) -> None:
    """An op gets its evidence by dtype in their order, refusals, and a line for each kind."""
    found = [make_found("int64", ({}, NO)), complete(make_found("float32", ({}, None), ({}, None)))]

    record = merge_op(make_record(OP), found)

    assert list(record.dtypes) == ["float32", "int64"]
    assert of(record, "float32") == summarise(found[1])
    assert [r.dtypes for r in record.refusals] == [("int64",)]
    assert [(e.kind, e.chip, e.detail) for e in record.evidence] == [
        (EvidenceKind.LOWERED, None, "2 of 3 samples at 2 dtypes lowered"),
        (EvidenceKind.COMPILED, "v5e", "1 of 1 programs at 1 dtype compiled"),
        (EvidenceKind.COMPILED, "v6e", "1 of 2 programs at 1 dtype compiled"),
        (
            EvidenceKind.NUMERICS,
            None,
            "1 of 2 samples at 1 dtype agreed with eager PyTorch on XLA:CPU",
        ),
    ]
    assert record.support is Support.NATIVE


def test_twice(make_record: MakeRecord, make_found: Make) -> None:
    """Merging the same findings again changes nothing; other dtypes keep what they had."""
    first, second = make_found("float32", ({}, None)), make_found("int64", ({}, NO))
    together = merge_op(make_record(OP), [first, second])

    assert merge_op(together, [first, second]) == together
    assert merge_op(merge_op(make_record(OP), [first]), [second]) == together
    healed = merge_op(together, [make_found("int64", ({}, None))])
    assert healed.refusals == ()
    assert list(healed.dtypes) == ["float32", "int64"]


def test_host_sync(make_record: MakeRecord, make_found: Make) -> None:
    """A sync that only lowering showed becomes a hazard with the message; a known one stays."""
    sometimes = merge_op(make_record(OP), [make_found("bool", ({}, SYNC), ({}, None))])
    always = merge_op(make_record(OP), [make_found("bool", ({}, SYNC))])
    known = make_record(OP, hazards={Hazard.HOST_SYNC: "reads"})

    start = "reads a value back from the device"
    assert sometimes.hazards == {Hazard.HOST_SYNC: f"{start} in some samples: {SYNC[1]}"}
    assert always.hazards == {Hazard.HOST_SYNC: f"{start}: {SYNC[1]}"}
    assert merge_op(known, [make_found("bool", ({}, SYNC))]).hazards == known.hazards


def test_random(make_record: MakeRecord, make_found: Make) -> None:
    """Drawing random numbers is told from the op's tag and the want of a device together."""
    needs = (Cause.NEEDS_DEVICE, "no PjRt client")
    record = make_record(OP)

    assert merge_op(record, [make_found("float32", ({}, needs), flags="random")]).random
    assert not merge_op(record, [make_found("float32", ({}, needs))]).random
    assert not merge_op(record, [make_found("float32", ({}, None), flags="random")]).random


def test_contradicted_kernel(make_record: MakeRecord, make_found: Make) -> None:
    """A native op is rejected or missing when every sample at every dtype says so, not before."""
    missing = (Cause.NOT_IMPLEMENTED, "none")
    record = make_record(OP, reason="a TPU kernel is registered")

    refused = merge_op(record, [make_found("bool", ({}, NO)), make_found("int64", ({}, NO))])
    stopped = merge_op(record, [make_found("bool", ({}, missing))])
    mixed = merge_op(record, [make_found("bool", ({}, NO), ({}, missing))])

    assert refused.support is Support.REJECTED
    assert refused.reason == "a TPU kernel is registered; and yet it refuses all 2 samples: no"
    assert stopped.support is Support.MISSING
    assert mixed.support is Support.NATIVE
    healed = merge_op(refused, [make_found("int64", ({}, None))])
    assert (healed.support, healed.reason) == (Support.NATIVE, "a TPU kernel is registered")


def test_composite_that_lowers(make_record: MakeRecord, make_found: Make) -> None:
    """An undecided composite is native once all samples lower; one that depends is not."""
    unknown = make_record(
        OP,
        support=Support.UNKNOWN,
        privateuse1=Resolution.COMPOSITE_EXPLICIT,
        reason="no sample ran",
    )
    depends = replace(unknown, ends_in=("aten.y.default",))

    lowered = merge_op(unknown, [make_found("float32", ({}, None), ({}, None))])
    partly = merge_op(lowered, [make_found("bool", ({}, NO))])

    assert lowered.support is Support.NATIVE
    assert lowered.reason == ("no sample ran; and yet all 2 samples lower to StableHLO, at 1 dtype")
    assert (partly.support, partly.reason) == (Support.UNKNOWN, "no sample ran")
    assert merge_op(depends, [make_found("float32", ({}, None))]).support is Support.UNKNOWN


def test_snapshot(
    make_record: MakeRecord, make_snapshot: Callable[..., Snapshot], make_found: Make
) -> None:
    """The snapshot names the tools, leaves other ops alone and can be written and read."""
    before = make_snapshot(make_record(OP), make_record("aten.y.default"))
    nothing = make_found("float32", op="aten.y.default")
    found = {
        OP: [complete(make_found("float32", ({}, None), ({}, None)))],
        "aten.y.default": [nothing],
    }

    after = merge(before, found, {"jax": "0.10.2"})

    assert after.versions == {"torch": "2.13.0", "jax": "0.10.2"}
    assert after.ops["aten.y.default"] is before.ops["aten.y.default"]
    read = decode(encode(after), origin="here")
    assert read.ops == after.ops
