"""Traces as plain JSON values and back, with the standard library alone.

Used for the cache and between processes; a report's JSON is made elsewhere. The decoder trusts
the shape of its input as far as this module wrote it and raises ValueError or KeyError otherwise.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tpu_audit.types.trace import (
    LostGradient,
    OpUse,
    Role,
    SourceLine,
    TensorRef,
    Trace,
    TraceSettings,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = 3
"""Raised whenever the meaning of a stored trace changes: old entries are then never read."""


def encode_trace(trace: Trace) -> dict[str, Any]:
    """Return ``trace`` as JSON values; calls share one table of tensors to keep it short."""
    return {
        "settings": asdict(trace.settings),
        "architecture": trace.architecture,
        "parameters": trace.parameters,
        **encode_ops(trace.ops),
        "cpu_ops": dict(trace.cpu_ops),
        "assumptions": list(trace.assumptions),
        "stand_in": trace.stand_in,
        "applies": list(trace.applies),
        "no_gradient": [[lost.parameter, lost.op] for lost in trace.no_gradient],
        "versions": dict(trace.versions),
        "registry_digest": trace.registry_digest,
    }


def encode_ops(uses: Sequence[OpUse]) -> dict[str, Any]:
    """Return calls as JSON values: ``ops``, and the table of ``tensors`` that they number."""
    tensors: dict[TensorRef, int] = {}

    def number(refs: tuple[TensorRef, ...]) -> list[int]:
        return [tensors.setdefault(ref, len(tensors)) for ref in refs]

    ops = [
        {
            "op": use.op,
            "count": use.count,
            "inputs": number(use.inputs),
            "outputs": number(use.outputs),
            "args": dict(use.args),
            "flops": use.flops,
            "bytes": use.bytes,
            "modules": list(use.modules),
            "sources": [[s.path, s.line] for s in use.sources],
            "guesses": use.guesses,
            "host_read": use.host_read,
            "ends_in": use.ends_in,
            "grad_inputs": use.grad_inputs,
            "role": use.role.value,
        }
        for use in uses
    ]
    return {
        "tensors": [[ref.dtype, list(ref.shape), ref.device] for ref in tensors],
        "ops": ops,
    }


def decode_trace(content: dict[str, Any]) -> Trace:
    """Return the trace that :func:`encode_trace` wrote."""
    return Trace(
        settings=TraceSettings(**content["settings"]),
        architecture=content["architecture"],
        parameters=content["parameters"],
        ops=decode_ops(content),
        cpu_ops=content["cpu_ops"],
        assumptions=tuple(content["assumptions"]),
        stand_in=content["stand_in"],
        applies=tuple(content["applies"]),
        no_gradient=tuple(LostGradient(parameter=p, op=op) for p, op in content["no_gradient"]),
        versions=content["versions"],
        registry_digest=content["registry_digest"],
    )


def decode_ops(content: dict[str, Any]) -> tuple[OpUse, ...]:
    """Return the calls that :func:`encode_ops` wrote."""
    tensors = [
        TensorRef(dtype=dtype, shape=tuple(shape), device=device)
        for dtype, shape, device in content["tensors"]
    ]
    return tuple(_decode_use(use, tensors) for use in content["ops"])


def _decode_use(content: dict[str, Any], tensors: list[TensorRef]) -> OpUse:
    ends_in = content["ends_in"]
    return OpUse(
        op=content["op"],
        count=content["count"],
        inputs=tuple(tensors[i] for i in content["inputs"]),
        outputs=tuple(tensors[i] for i in content["outputs"]),
        args=content["args"],
        flops=content["flops"],
        bytes=content["bytes"],
        modules=tuple(content["modules"]),
        sources=tuple(SourceLine(path=path, line=line) for path, line in content["sources"]),
        guesses=content["guesses"],
        host_read=content["host_read"],
        ends_in=None if ends_in is None else tuple(ends_in),
        grad_inputs=content["grad_inputs"],
        role=Role(content["role"]),
    )
