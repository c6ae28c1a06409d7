"""Small reports to render: made of plain values, in the shapes that a scan gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from op_registry.schema import Evidence, EvidenceKind, Fallback, Hazard, Support
from tpu_audit.types.report import (
    Finding,
    Location,
    ModelReport,
    OpRow,
    PhaseReport,
    RegistryInfo,
    Report,
    Severity,
    Status,
    ToolInfo,
    Verdict,
    Versions,
)
from tpu_audit.types.trace import SourceLine, TensorRef

if TYPE_CHECKING:
    from collections.abc import Sequence

MODELING = "transformers/models/bert/modeling_bert.py"
LAYERS = tuple(f"bert.encoder.layer.{index}.attention.self.query" for index in range(12))


def op_row(op: str = "aten.linear.default", **changes: Any) -> OpRow:
    """Return one judged call: a linear layer of BERT's attention, or what ``changes`` say."""
    tensor = TensorRef(dtype="bfloat16", shape=(1, 128, 768), device="tpu")
    values: dict[str, Any] = {
        "count": 48,
        "inputs": (tensor,),
        "outputs": (tensor,),
        "args": {},
        "flops": 7_247_757_312,
        "bytes": 75_497_472,
        "support": Support.NATIVE,
        "hazards": (),
        "evidence": (Evidence(kind=EvidenceKind.REGISTERED, detail="kernel at PrivateUse1"),),
        "reason": "a TPU kernel",
        "fallback": None,
        "modules": LAYERS,
        "sources": (SourceLine(path=MODELING, line=171),),
        "guesses": 0,
    }
    return OpRow(op=op, **{**values, **changes})


def missing_row(op: str = "aten.mish.default") -> OpRow:
    """Return a call that raises."""
    return op_row(
        op,
        count=12,
        flops=None,
        bytes=4_718_592,
        support=Support.MISSING,
        fallback=Fallback.CPU_IF_ENABLED,
        reason="no TPU kernel",
        evidence=(),
    )


def sync_row() -> OpRow:
    """Return a call that runs and blocks on the host."""
    return op_row(
        "aten._local_scalar_dense.default",
        count=1,
        flops=0,
        bytes=1,
        hazards=(Hazard.HOST_SYNC,),
        modules=("bert",),
        guesses=1,
    )


def phase(ops: Sequence[OpRow] | None = None, **changes: Any) -> PhaseReport:
    """Return a traced forward phase in bfloat16."""
    values: dict[str, Any] = {
        "phase": "forward",
        "dtype": "bfloat16",
        "status": Status.TRACED,
        "verdict": Verdict.BLOCKED,
        "ops": tuple(ops) if ops is not None else (op_row(), missing_row(), sync_row()),
        "cpu_ops": {"aten.arange.default": 2},
        "batch": 1,
        "seq_len": 128,
        "tracer": "pretended",
        "assumptions": ("input_ids are token ids 5, 6, 7...",),
    }
    return PhaseReport(**{**values, **changes})


def failed_phase(code: str = "gated", **changes: Any) -> PhaseReport:
    """Return a phase that never started."""
    values: dict[str, Any] = {
        "status": Status.FAILED,
        "stage": "resolve",
        "reason": "the repository is gated; accept its licence and set HF_TOKEN",
        "reason_code": code,
        "verdict": Verdict.UNKNOWN,
        "ops": (),
        "cpu_ops": {},
        "assumptions": (),
    }
    return phase(**{**values, **changes})


def model(**changes: Any) -> ModelReport:
    """Return BERT as the hub knows it."""
    values: dict[str, Any] = {
        "target": "bert-base-uncased",
        "id": "google-bert/bert-base-uncased",
        "revision": "86b5e0934494bd15c9632b12f734a8a67f723594",
        "config_source": "hub@86b5e0934494bd15c9632b12f734a8a67f723594",
        "library": "transformers",
        "model_type": "bert",
        "architecture": "BertForMaskedLM",
        "parameters": 109_514_298,
        "redirected_from": "bert-base-uncased",
        "phases": (phase(),),
    }
    return ModelReport(**{**values, **changes})


def missing_finding(**changes: Any) -> Finding:
    """Return the finding of ``missing_row``."""
    values: dict[str, Any] = {
        "code": "TPA901",
        "severity": Severity.ERROR,
        "message": "aten.mish.default: no TPU kernel",
        "fix": "x * torch.tanh(F.softplus(x))",
        "model": "google-bert/bert-base-uncased",
        "phase": "forward",
        "dtype": "bfloat16",
        "op": "aten.mish.default",
        "location": Location(path=MODELING, line=171, module=LAYERS[0]),
        "count": 12,
        "bytes": 4_718_592,
        "modules": LAYERS,
        "sources": (SourceLine(path=MODELING, line=171),),
    }
    return Finding(**{**values, **changes})


def sync_finding() -> Finding:
    """Return the finding of ``sync_row``."""
    return missing_finding(
        code="TPA904",
        severity=Severity.WARNING,
        message="aten._local_scalar_dense.default: blocks on the host",
        fix="keep the value on the device",
        op="aten._local_scalar_dense.default",
        count=1,
        modules=("bert",),
        sources=(SourceLine(path=MODELING, line=640),),
    )


def report(
    models: Sequence[ModelReport] | None = None,
    findings: Sequence[Finding] | None = None,
    **changes: Any,
) -> Report:
    """Return a whole report: one blocked model by default."""
    registry = RegistryInfo(
        backend="tpu", package="torch-tpu", version="0.2.0", torch="2.13.0", digest="ab" * 32
    )
    values: dict[str, Any] = {
        "tool": ToolInfo(version="0.1.0"),
        "versions": Versions(torch="2.13.0", transformers="5.24.0", registry=registry),
        "models": tuple(models) if models is not None else (model(),),
        "findings": tuple(findings)
        if findings is not None
        else (missing_finding(), sync_finding()),
    }
    return Report(**{**values, **changes})
