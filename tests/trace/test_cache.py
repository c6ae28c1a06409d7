"""The trace cache: exact round trips, damage is a miss, a closed folder is only a note."""

from __future__ import annotations

import gzip
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tpu_audit.trace.cache import TraceCache
from tpu_audit.types.trace import OpUse, SourceLine, TensorRef, Trace, TraceSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY = "ab" + "0" * 62
X = TensorRef(dtype="bfloat16", shape=(1, 128, 768), device="tpu")


def trace(calls: int = 2) -> Trace:
    """Return a trace that uses every field."""
    ops = tuple(
        OpUse(
            op=f"aten.op{i}.default",
            count=i + 1,
            inputs=(X, TensorRef(dtype="int64", shape=(), device="cpu")),
            outputs=(X,),
            args={"dim": -1, "eps": 1e-6, "flag": True, "name": "gelu", "none": None},
            flops=None if i % 2 else 10**15,
            bytes=8,
            modules=("", f"layers.{i}"),
            sources=(SourceLine(path="transformers/models/a.py", line=i),),
            guesses=i,
            host_read=bool(i % 2),
            ends_in=("aten.b.default",) if i % 2 else None,
            grad_inputs=True,
        )
        for i in range(calls)
    )
    return Trace(
        settings=TraceSettings(),
        architecture="Made",
        parameters=405_853_388_800,
        ops=ops,
        cpu_ops={"aten.arange.default": 3},
        assumptions=("one",),
        versions={"torch": "2.13.0"},
        registry_digest="d",
    )


def test_round_trip_is_exact(tmp_path: Path) -> None:
    """What is read back equals what was kept, and the entry lies where its key says."""
    cache = TraceCache(tmp_path)
    assert cache.get(KEY) is None
    assert cache.put(KEY, trace()) is None
    assert cache.get(KEY) == trace()
    assert cache.path(KEY) == tmp_path / "traces" / "ab" / f"{KEY}.json.gz"


def test_writing_twice_is_byte_identical_and_leaves_no_litter(tmp_path: Path) -> None:
    """No timestamp, no temporary file."""
    cache = TraceCache(tmp_path)
    cache.put(KEY, trace())
    first = cache.path(KEY).read_bytes()
    cache.put(KEY, trace())
    assert cache.path(KEY).read_bytes() == first
    assert list(cache.path(KEY).parent.iterdir()) == [cache.path(KEY)]


def _flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


def _packed(content: object) -> bytes:
    return gzip.compress(json.dumps(content).encode())


def _changed(data: bytes, **fields: Any) -> bytes:
    return _packed(json.loads(gzip.decompress(data)) | fields)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut off": lambda data: data[:-20],
    "a flipped bit": _flipped,
    "not gzip": lambda _: b"{}",
    "not JSON": lambda _: gzip.compress(b"{"),
    "another shape": lambda _: _packed([1, 2]),
    "another format": lambda data: _changed(data, format=0),
    "another key": lambda data: _changed(data, key="f" * 64),
    "no trace": lambda data: _changed(data, trace={}),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_a_miss(tmp_path: Path, damage: str) -> None:
    """A damaged or foreign entry is a miss, is removed, and can be written again."""
    cache = TraceCache(tmp_path)
    cache.put(KEY, trace())
    path = cache.path(KEY)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert cache.get(KEY) is None
    assert not path.exists()
    cache.put(KEY, trace())
    assert cache.get(KEY) == trace()


def test_an_unusable_folder_is_a_note(tmp_path: Path) -> None:
    """Where the cache's folder cannot be made, a sentence says so and nothing fails."""
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    note = TraceCache(blocked).put(KEY, trace())
    assert note is not None
    assert str(blocked) in note
    assert TraceCache(blocked).get(KEY) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_read_only_folder_is_a_note(tmp_path: Path) -> None:
    """A cache without write permission still answers."""
    cache = TraceCache(tmp_path)
    cache.put(KEY, trace())
    for folder in (cache.path(KEY).parent, tmp_path / "traces"):
        folder.chmod(0o500)
    assert "not kept" in (cache.put("cd" + "0" * 62, trace()) or "")
    assert cache.get(KEY) == trace()
