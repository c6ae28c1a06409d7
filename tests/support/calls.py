"""Small made-up calls, registries and audits: what the audit's tests are written in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from op_registry.evidence import Cause, DtypeEvidence, Said, Tally, encode
from op_registry.schema import (
    Evidence,
    EvidenceKind,
    Fallback,
    OpRecord,
    Resolution,
    Snapshot,
    Support,
)
from tpu_audit.audit.call import Platform
from tpu_audit.audit.phase import PhaseAudit, audit_trace
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import LostGradient, OpUse, SourceLine, TensorRef, Trace, TraceSettings

if TYPE_CHECKING:
    from tpu_audit.types.report import Finding

LINE = SourceLine(path="transformers/models/made/modeling_made.py", line=7)


def record(op: str, support: Support = Support.NATIVE, **fields: Any) -> OpRecord:
    """Return the record of an op, with a kernel unless ``support`` says otherwise."""
    missing = support is Support.MISSING
    values: dict[str, Any] = {
        "op": op,
        "schema": f"{op}(...) -> Tensor",
        "privateuse1": Resolution.FALLBACK if missing else Resolution.KERNEL,
        "autograd": Resolution.FALLTHROUGH,
        "autocast": Resolution.FALLTHROUGH,
        "support": support,
        "reason": "no TPU kernel" if missing else "a TPU kernel is registered",
        "fallback": Fallback.CPU_IF_ENABLED if missing else None,
        "evidence": (Evidence(kind=EvidenceKind.REGISTERED, detail=f"table entry of {op}"),),
    }
    return OpRecord(**(values | fields))


def composite(op: str, support: Support = Support.UNKNOWN, **fields: Any) -> OpRecord:
    """Return the record of a composite op, undecided unless ``support`` says otherwise."""
    values: dict[str, Any] = {"privateuse1": Resolution.COMPOSITE_EXPLICIT, "fallback": None}
    return record(op, support, reason="a composite", **(values | fields))


def tally(passed: int, tried: int, *said: tuple[Cause, str, int]) -> Tally:
    """Return how many samples passed, and what the others met: cause, message, samples."""
    met = tuple(Said(cause=cause, message=text, samples=number) for cause, text, number in said)
    return Tally(passed=passed, tried=tried, said=met)


def proofs(**fields: Any) -> dict[str, Any]:
    """Return evidence in its stored form; as strong as can be unless ``fields`` say otherwise."""
    values: dict[str, Any] = {
        "lowered": tally(8, 8),
        "compiled": {"v5e": tally(1, 1), "v6e": tally(2, 2)},
        "numerics": tally(3, 3),
    }
    return encode(DtypeEvidence(**(values | fields)))


def snapshot(*records: OpRecord) -> Snapshot:
    """Return a registry of these records."""
    return Snapshot(
        backend="tpu",
        package="torch-tpu",
        version="9.9",
        torch="2.13.0",
        versions={"torch": "2.13.0"},
        record_sha256="0" * 64,
        ops={r.op: r for r in records},
        digest="d" * 64,
    )


def tensor(*shape: int, dtype: str = "bfloat16", device: str = "tpu") -> TensorRef:
    """Return a tensor as a call saw it."""
    return TensorRef(dtype=dtype, shape=shape, device=device)


def use(op: str, *inputs: TensorRef, **fields: Any) -> OpUse:
    """Return one call of ``op``; its output is like the first input unless given."""
    values: dict[str, Any] = {
        "op": op,
        "count": 1,
        "inputs": inputs,
        "outputs": inputs[:1],
        "bytes": 8,
        "flops": 0,
        "modules": ("encoder.layer.0",),
        "sources": (LINE,),
    }
    return OpUse(**(values | fields))


def audit(
    *uses: OpUse,
    registry: Snapshot | None = None,
    phase: str = "forward",
    dtype: str = "bfloat16",
    config: dict[str, Any] | None = None,
    platform: Platform | None = None,
    stand_in: str | None = None,
    remote_code: bool = False,
    lost: tuple[LostGradient, ...] = (),
) -> PhaseAudit:
    """Audit these calls; without a registry every op in them has a kernel."""
    trace = Trace(
        settings=TraceSettings(phase=phase, dtype=dtype, remote_code=remote_code),
        architecture="MadeModel",
        parameters=1,
        ops=uses,
        stand_in=stand_in,
        no_gradient=lost,
    )
    ops = {call.op for call in uses}
    spec = ModelSpec(
        target="made", id="org/made", revision=None, config_source="local", config=config or {}
    )
    known = registry or snapshot(*map(record, sorted(ops)))
    return audit_trace(trace, known, spec, platform or Platform())


def finding(code: str, result: PhaseAudit) -> Finding:
    """Return the one finding with ``code``."""
    (found,) = [f for f in result.findings if f.code == code]
    return found


def codes(result: PhaseAudit) -> set[str]:
    """Return the codes found."""
    return {f.code for f in result.findings}
