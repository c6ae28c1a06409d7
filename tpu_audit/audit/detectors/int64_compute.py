"""TPA923: 64-bit integer arithmetic that is more than bookkeeping."""

from __future__ import annotations

from op_registry.schema import Hazard
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.audit.sizes import nbytes
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA923",
    name="int64-compute",
    severity=Severity.INFO,
    summary="Large int64 results, or int64 matrix products, are computed on the TPU.",
    why=(
        "64-bit integers are pairs of 32-bit ones on a TPU: twice the memory traffic and several "
        "instructions for one. Token ids, positions and masks are too small to matter, and nearly "
        "every model has them, so they are not reported."
    ),
    fix="Make the tensor int32 where its values allow it.",
)

LARGE = 16 * 2**20
"""Bytes of one int64 result. Below it a TPU of any generation spends under 20 microseconds on the
memory traffic (v5e: 819 GB/s), which is what a step spends on launching anything at all."""

_INT64 = frozenset({"int64", "uint64"})


def detect(call: Call) -> Hit | None:
    """Report int64 results of ``LARGE`` bytes and int64 matrix products."""
    results = [t for t in call.use.outputs if t.dtype in _INT64 and t.device != "cpu"]
    large = any(nbytes(t) >= LARGE for t in results)
    product = bool(call.use.flops) and all(t.dtype in _INT64 for t in call.use.inputs)
    if not results or call.is_view() or not (large or product):
        return None
    what = "int64 matrix product" if product else "large int64 result"
    words = call.emulation()
    reason = f"{what}, in pairs of 32-bit integers" + (f" ({words})" if words else "")
    return Hit(code=CODE, hazard=Hazard.EMULATED, reason=reason)
