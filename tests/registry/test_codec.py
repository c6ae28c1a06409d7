"""The file format: canonical and complete."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

from op_registry import evidence
from op_registry.codec import decode, encode
from op_registry.evidence import DtypeEvidence, Tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from op_registry.schema import OpRecord, Snapshot


def test_round_trip_keeps_every_field(small: Snapshot) -> None:
    """Encoding and decoding gives the same records, and encoding again the same bytes."""
    data = encode(small)
    read = decode(data, origin="here")
    assert read.ops == small.ops
    assert read.versions == small.versions
    assert encode(read) == data


def test_one_op_a_line(small: Snapshot) -> None:
    """Each op stands on a line of its own, sorted, so that two snapshots diff well."""
    lines = encode(small).decode().splitlines()
    ops = [line.split('"')[1] for line in lines if line.startswith(('"aten.', '"prims.'))]
    assert ops == sorted(small.ops)


def test_equal_evidence_is_written_once(
    make_record: Callable[..., OpRecord], make_snapshot: Callable[..., Snapshot]
) -> None:
    """Dtypes and chips with equal evidence share an entry; read, each has its own."""
    seen = evidence.encode(
        DtypeEvidence(
            lowered=Tally(passed=3, tried=3),
            compiled={
                "v5e": Tally(passed=1, tried=1),
                "v5p": Tally(passed=1, tried=1),
                "v6e": Tally(passed=2, tried=2),
            },
            emulated={"v5e": "f64", "v6e": "f64"},
        )
    )
    dtypes = {"float32": seen, "bfloat16": seen, "int64": {"lowered": "1/1"}}
    data = encode(make_snapshot(make_record("aten.x.default", dtypes=dtypes)))

    record = decode(data, origin="here").ops["aten.x.default"]

    assert b'"dtypes":{"float32 bfloat16":{"compiled":{"v5e v5p":"1/1","v6e":"2/2"}' in data
    assert b'"emulated":{"v5e v6e":"f64"}' in data
    assert list(record.dtypes) == ["float32", "bfloat16", "int64"]
    assert evidence.of(record, "bfloat16") == evidence.decode(seen)
    found = evidence.of(record, "bfloat16")
    assert found is not None
    assert found.compiled.keys() == {"v5e", "v5p", "v6e"}
    assert found.emulated == {"v5e": "f64", "v6e": "f64"}


def test_lazy_records(small: Snapshot) -> None:
    """A packaged snapshot reads an op when it is asked for, once, and is otherwise the same."""
    lazy = decode(encode(small), origin="here", canonical=True)

    assert "aten.add.Tensor" in lazy.ops
    assert "aten.nonsense" not in lazy.ops
    assert lazy.get("aten.nonsense") is None
    assert lazy.ops["aten.add.Tensor"] is lazy.ops["aten.add.Tensor"]
    assert len(lazy.ops) == len(small.ops)
    assert lazy.ops == small.ops
    assert encode(lazy) == encode(small)
    assert pickle.loads(pickle.dumps(lazy)).ops == small.ops  # noqa: S301 - our own bytes
