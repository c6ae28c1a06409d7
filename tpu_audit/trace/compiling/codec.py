"""Compilations as plain JSON values and back, with the standard library alone."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tpu_audit.trace.codec import decode_ops, encode_ops
from tpu_audit.types.compiled import BreakKind, Change, CompileTrace, GraphBreak, Recompile
from tpu_audit.types.trace import SourceLine, TraceSettings


def encode_compiled(trace: CompileTrace) -> dict[str, Any]:
    """Return ``trace`` as JSON values."""
    return {
        "settings": asdict(trace.settings),
        "graphs": trace.graphs,
        "launches": trace.launches,
        "breaks": [asdict(one) for one in trace.breaks],
        "recompiles": [asdict(one) for one in trace.recompiles],
        **encode_ops(trace.ops),
        "assumptions": list(trace.assumptions),
    }


def decode_compiled(content: dict[str, Any]) -> CompileTrace:
    """Return what :func:`encode_compiled` wrote."""
    return CompileTrace(
        settings=TraceSettings(**content["settings"]),
        graphs=content["graphs"],
        launches=content["launches"],
        breaks=tuple(_break(one) for one in content["breaks"]),
        recompiles=tuple(
            Recompile(**{**one, "change": Change(one["change"])}) for one in content["recompiles"]
        ),
        ops=decode_ops(content),
        assumptions=tuple(content["assumptions"]),
    )


def _break(content: dict[str, Any]) -> GraphBreak:
    source = content["source"]
    return GraphBreak(
        **{
            **content,
            "kind": BreakKind(content["kind"]),
            "source": source and SourceLine(**source),
        }
    )
