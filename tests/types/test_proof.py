"""How strong evidence is: steps, refusals, disagreements, and what a call rests on."""

from __future__ import annotations

from typing import Any

import pytest

from op_registry.evidence import Cause, DtypeEvidence, Refusal, Tally, decode
from op_registry.schema import Evidence, EvidenceKind, Support
from tests.support.calls import proofs, record, tally
from tests.support.reports import op_row
from tpu_audit.types.proof import (
    Standing,
    disagreement,
    draws_unproven,
    evidence_kind,
    proven,
    refused,
    rests_on_registration,
    standing,
    strongest,
)

KINDS = EvidenceKind
NOTHING = tally(0, 0)
NO = (Cause.REJECTED, "no", 2)
BARE: dict[str, Any] = {"lowered": NOTHING, "compiled": {}, "numerics": NOTHING}


def known(**fields: Any) -> DtypeEvidence:
    """Return evidence that holds nothing but ``fields``."""
    return decode(proofs(**{**BARE, **fields}))


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"numerics": tally(1, 3)}, KINDS.NUMERICS),
        ({"numerics": tally(0, 3), "compiled": {"v6e": tally(1, 2)}}, KINDS.COMPILED),
        ({"compiled": {"v6e": tally(0, 2)}, "lowered": tally(1, 8)}, KINDS.LOWERED),
        ({"lowered": tally(0, 8, (Cause.HOST_SYNC, "reads", 8))}, KINDS.LOWERED),
        ({"lowered": tally(0, 8, (Cause.CRASHED, "signal", 8))}, KINDS.REGISTERED),
        ({}, KINDS.REGISTERED),
    ],
)
def test_the_strongest_step_that_some_sample_passed(
    fields: dict[str, Any], kind: EvidenceKind
) -> None:
    """A step counts once a sample passed it; a host read shows the kernel, an accident nothing."""
    assert proven(known(**fields)) is kind


def test_one_chips_compiler_is_not_anothers() -> None:
    """Asked for a chip, only that chip's compiler counts."""
    found = known(lowered=tally(1, 1), compiled={"v6e": tally(1, 1)})
    assert proven(found, "v6e") is KINDS.COMPILED
    assert proven(found, "v5e") is KINDS.LOWERED


@pytest.mark.parametrize(
    ("compiled", "stands"),
    [
        ({"v5e": tally(0, 1, NO), "v6e": tally(0, 2, NO)}, Standing.REFUSED),
        ({"v5e": tally(0, 1, NO), "v6e": tally(2, 2)}, Standing.COMPILED),
        ({"v5e": tally(0, 1, NO), "v6e": tally(1, 2, NO)}, Standing.COMPILED),
        ({"v6e": tally(0, 2, (Cause.SKEW, "vhlo", 2))}, Standing.LOWERED),
    ],
)
def test_refused_everywhere_or_somewhere(compiled: dict[str, Tally], stands: Standing) -> None:
    """A dtype is refused when each chip's compiler that was asked refuses each program."""
    op = record("aten.a.default", dtypes={"bool": proofs(compiled=compiled, numerics=NOTHING)})
    assert standing(op, "bool") is stands


def test_a_refusal_of_every_call() -> None:
    """A refusal without arguments refuses its dtypes; one with arguments leaves the rest."""
    every = Refusal(message="no bool", when={}, dtypes=("bool",))
    some = Refusal(message="dim", when={"dim": 9}, dtypes=("float32",))
    op = record("aten.a.default", refusals=(every, some))

    said = refused(op, "bool", None)
    assert said is not None
    assert said.message == "no bool"
    assert refused(op, "float32", None) is None
    assert (standing(op, "bool"), standing(op, "float32")) == (Standing.REFUSED, Standing.UNTRIED)
    assert strongest(op, "bool") is None


def test_the_strongest_of_all_dtypes() -> None:
    """Best proven dtype first; refused everywhere is nothing; missing ops have no proof."""
    refuses = proofs(lowered=tally(0, 2, NO), compiled={}, numerics=NOTHING)
    lowers = proofs(compiled={}, numerics=NOTHING)
    assert strongest(record("aten.a.default")) is KINDS.REGISTERED
    mixed = record("aten.a.default", dtypes={"bool": refuses, "int64": lowers})
    assert strongest(mixed) is KINDS.LOWERED
    assert strongest(record("aten.a.default", dtypes={"bool": refuses})) is None
    assert strongest(record("aten.a.default", Support.MISSING)) is None


def test_a_disagreement_is_the_commonest_difference() -> None:
    """Differences count, accidents of the runner do not."""
    said = ((Cause.SKEW, "vhlo", 9), (Cause.DTYPE, "int32", 1), (Cause.VALUES, "off", 2))
    found = disagreement(known(numerics=tally(0, 12, *said)))
    assert found is not None
    assert (found.cause, found.message) == (Cause.VALUES, "off")
    assert disagreement(known(numerics=tally(0, 9, said[0]))) is None


@pytest.mark.parametrize(
    ("kinds", "strong", "weak"),
    [
        ([KINDS.REGISTERED, KINDS.REFERENCE], KINDS.REGISTERED, True),
        ([KINDS.REGISTERED, KINDS.LOWERED], KINDS.LOWERED, False),
        ([KINDS.REFERENCE], KINDS.REFERENCE, False),
        ([], None, False),
    ],
)
def test_what_a_call_rests_on(
    kinds: list[EvidenceKind], strong: EvidenceKind | None, *, weak: bool
) -> None:
    """What an op means proves no kernel: registered with a reference is registered alone."""
    evidence = tuple(Evidence(kind=kind, detail="seen") for kind in kinds)
    row = op_row(evidence=evidence)
    assert evidence_kind(row) is strong
    assert rests_on_registration(row) is weak
    drawing = op_row(evidence=evidence, random=True)
    assert (draws_unproven(drawing), rests_on_registration(drawing)) == (weak, False)
