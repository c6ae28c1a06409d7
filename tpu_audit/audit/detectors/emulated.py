"""TPA912: 64-bit floating point that XLA builds out of 32-bit arithmetic."""

from __future__ import annotations

import re

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

_WIDE_INSIDE = re.compile(r"\b(f64|float64|c128|complex128)\b")
_WIDE = {"float64": "float32", "complex128": "complex64"}
_COMPLEX_FIX = (
    "Compute in complex64, or with separate cos and sin parts: build the float tensor behind "
    "`torch.view_as_complex`/`torch.polar` in float32."
)


def detect(call: Call) -> Hit | None:
    """Report 64-bit floating-point tensors of more than one element, views aside.

    And kernels that compute so inside, as the compiler saw it. A lone number costs nothing; a view
    computes nothing.
    """
    tensors = [t for t in call.on_device if numel(t) > 1]
    wide = {t.dtype for t in tensors if t.dtype in _WIDE}
    if not tensors or call.is_view():
        return None
    return _wide(call, wide) if wide else _inside(call)


def _wide(call: Call, wide: set[str]) -> Hit:
    dtype = max(wide, key=list(_WIDE).index)
    whole_phase = call.settings.dtype == dtype
    return Hit(
        code=CODE,
        hazard=Hazard.EMULATED,
        reason=_reason(call, dtype, whole_phase=whole_phase),
        fix=_fix(dtype, whole_phase=whole_phase),
        cause=dtype,
        about_op=not whole_phase,
    )


def _inside(call: Call) -> Hit | None:
    """Report a kernel that works in 64 bits on narrower tensors."""
    words = call.emulation()
    if not _WIDE_INSIDE.search(words):
        return None
    fix = "The kernel widens inside: use an op that does not, or accept the cost."
    return Hit(code=CODE, hazard=Hazard.EMULATED, reason=words, fix=fix, cause=words)


def _reason(call: Call, dtype: str, *, whole_phase: bool) -> str:
    if whole_phase:
        return f"the whole model runs in {dtype}, which the TPU emulates in software"
    words = call.emulation()
    seen = f" ({words})" if words else ""
    return f"works on {dtype}, which the TPU emulates in software{seen}"


def _fix(dtype: str, *, whole_phase: bool) -> str | None:
    if whole_phase:
        return "Load the model in bfloat16 or float32."
    return _COMPLEX_FIX if dtype == "complex128" else None
