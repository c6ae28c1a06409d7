"""Compilations as JSON and in the cache: nothing is lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tpu_audit.trace.cache import CompileCache
from tpu_audit.trace.compiling.codec import decode_compiled, encode_compiled
from tpu_audit.types.compiled import BreakKind, Change, CompileTrace, GraphBreak, Recompile
from tpu_audit.types.trace import OpUse, SourceLine, TensorRef, TraceSettings

if TYPE_CHECKING:
    from pathlib import Path

X = TensorRef(dtype="bfloat16", shape=(1, 8), device="tpu")
STOP = GraphBreak(
    reason="a",
    detail="b",
    kind=BreakKind.LIMIT,
    source=SourceLine(path="transformers/models/a.py", line=3),
    module="layers.0",
    count=2,
    eager=True,
)
TRACE = CompileTrace(
    settings=TraceSettings(phase="decode"),
    graphs=2,
    launches=3,
    breaks=(STOP, GraphBreak(
        reason="a", detail="b", kind=BreakKind.DATA, source=None, module=None, count=1, eager=False
    )),
    recompiles=(Recompile(change=Change.BATCH, anew=True, guard="x", was=1, now=2),),
    ops=(OpUse(op="aten.relu.default", count=1, inputs=(X,), outputs=(X,)),),
    assumptions=("one",),
)  # fmt: skip


def test_round_trip() -> None:
    """Through JSON text and back it is the very same."""
    assert decode_compiled(json.loads(json.dumps(encode_compiled(TRACE)))) == TRACE


def test_the_cache_keeps_it_apart_from_traces(tmp_path: Path) -> None:
    """It has a folder of its own, and comes back as it was."""
    cache, key = CompileCache(tmp_path), "ab" + "0" * 62

    assert cache.put(key, TRACE) is None
    assert cache.path(key) == tmp_path / "compilations" / "ab" / f"{key}.json.gz"
    assert cache.get(key) == TRACE
