"""The file format: canonical and complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from op_registry.codec import decode, encode

if TYPE_CHECKING:
    from op_registry.schema import Snapshot


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
