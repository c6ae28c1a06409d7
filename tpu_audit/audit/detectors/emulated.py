"""TPA912: 64-bit floating point that XLA builds out of 32-bit arithmetic."""

from __future__ import annotations

from op_registry.schema import Hazard
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.audit.sizes import numel
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA912",
    name="emulated-64-bit",
    severity=Severity.WARNING,
    summary="float64 or complex128 values are computed on the TPU.",
    why=(
        "TPUs have no 64-bit floating point. TorchTPU keeps the dtype (nothing is demoted) and "
        "XLA emulates it with pairs of 32-bit numbers: many times slower, and some HLOs cannot be "
        "rewritten at all (a double-precision FFT does not compile)."
    ),
    fix="Compute in float32: pass `dtype=torch.float32` where the tensor is made.",
    references=("XLA's X64 rewriter, which splits 64-bit values into pairs",),
)

_WIDE = {"float64": "float32", "complex128": "complex64"}
_COMPLEX_FIX = (
    "Compute in complex64, or with separate cos and sin parts: build the float tensor behind "
    "`torch.view_as_complex`/`torch.polar` in float32."
)


def detect(call: Call) -> Hit | None:
    """Report 64-bit floating-point tensors of more than one element, views aside.

    A lone number costs nothing; a view computes nothing.
    """
    wide = {t.dtype for t in call.on_device if t.dtype in _WIDE and numel(t) > 1}
    if not wide or call.is_view():
        return None
    dtype = max(wide, key=list(_WIDE).index)
    whole_phase = call.settings.dtype == dtype
    return Hit(
        code=CODE,
        hazard=Hazard.EMULATED,
        reason=_reason(dtype, whole_phase=whole_phase),
        fix=_fix(dtype, whole_phase=whole_phase),
        cause=dtype,
        about_op=not whole_phase,
    )


def _reason(dtype: str, *, whole_phase: bool) -> str:
    if whole_phase:
        return f"the whole model runs in {dtype}, which the TPU emulates in software"
    return f"works on {dtype}, which the TPU emulates in software"


def _fix(dtype: str, *, whole_phase: bool) -> str | None:
    if whole_phase:
        return "Load the model in bfloat16 or float32."
    return _COMPLEX_FIX if dtype == "complex128" else None
