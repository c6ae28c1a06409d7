"""TPA919: complex64 arithmetic, supported and expanded into real arithmetic."""

from __future__ import annotations

from op_registry.schema import Hazard
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.audit.sizes import numel
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA919",
    name="complex-compute",
    severity=Severity.INFO,
    summary="complex64 values are computed on the TPU.",
    why=(
        "TorchTPU has kernels for complex tensors; XLA expands them into real arithmetic. It runs, "
        "and off the matrix units it costs little; worth knowing where it sits in a hot loop."
    ),
    fix="Nothing to do, unless a profile shows it: then use separate cos and sin parts.",
)


def detect(call: Call) -> Hit | None:
    """Report complex64 compute, views aside; wider complex numbers have their own code."""
    if call.is_view():
        return None
    if not any(t.dtype == "complex64" and numel(t) > 1 for t in call.on_device):
        return None
    words = call.emulation()
    seen = f" ({words})" if words else ""
    reason = f"complex64 arithmetic, which XLA expands into real arithmetic{seen}"
    return Hit(code=CODE, hazard=Hazard.EMULATED, reason=reason)
