"""Snapshots for the registry's tests: the committed ones, and small ones made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from op_registry.loader import load
from op_registry.schema import (
    Evidence,
    EvidenceKind,
    Hazard,
    OpRecord,
    Resolution,
    Snapshot,
    Support,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session", params=["0.2.0+torch2.13", "0.2.0+torch2.14"])
def committed(request: pytest.FixtureRequest) -> Snapshot:
    """Each committed snapshot in turn."""
    return load(request.param)


@pytest.fixture(scope="session")
def newest_213() -> Snapshot:
    """Return the snapshot that was made with torch 2.13."""
    return load("0.2.0+torch2.13")


@pytest.fixture(scope="session")
def make_record() -> Callable[..., OpRecord]:
    """Return a maker of records: an op's name, and the fields that matter to a test."""

    def make(op: str, **fields: object) -> OpRecord:
        values: dict[str, object] = {
            "schema": f"{op}(Tensor self) -> Tensor",
            "privateuse1": Resolution.KERNEL,
            "autograd": Resolution.AUTOGRAD_KERNEL,
            "autocast": Resolution.FALLTHROUGH,
            "support": Support.NATIVE,
            "reason": "a TPU kernel is registered",
        }
        return OpRecord(op=op, **(values | fields))  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def make_snapshot() -> Callable[..., Snapshot]:
    """Return a maker of snapshots from records."""

    def make(*records: OpRecord, torch: str = "2.13.0") -> Snapshot:
        return Snapshot(
            backend="tpu",
            package="torch-tpu",
            version="0.2.0",
            torch=torch,
            versions={"torch": torch},
            record_sha256="0" * 64,
            ops={record.op: record for record in records},
        )

    return make


@pytest.fixture(scope="session")
def small(make_record: Callable[..., OpRecord], make_snapshot: Callable[..., Snapshot]) -> Snapshot:
    """Return a snapshot of four ops that uses every kind of field."""
    seen = Evidence(kind=EvidenceKind.LOWERED, detail="lowering raised: no", chip="v6e")
    return make_snapshot(
        make_record("aten.add.Tensor"),
        make_record("aten.add.Scalar", ends_in=("aten.add.Tensor",)),
        make_record("aten.nonzero.default", hazards={Hazard.HOST_SYNC: "reads"}, evidence=(seen,)),
        make_record("prims.add.default", support=Support.UNKNOWN, reason="no sample ran"),
    )
