"""TPA910: the host waits for a value of the device."""

from __future__ import annotations

from op_registry.evidence import Cause
from op_registry.schema import Hazard
from tpu_audit.audit.advice import avoiding_sync
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.audit.detectors.dynamic_shape import (
    indexes_without_counting,
    size_is_given,
    unbounded_mask,
)
from tpu_audit.types.proof import syncs
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA910",
    name="host-sync",
    severity=Severity.WARNING,
    summary="The call reads a value or a size of a TPU tensor back to the host.",
    why=(
        "The host stops until the TPU has drained its queue, in every step; under torch.compile "
        "the graph breaks there or, where the read sits inside a kernel, tracing fails."
    ),
    fix=(
        "Keep the decision on the device (`torch.where` on both results), or take the value from "
        "what the host knows anyway (shapes, config, inputs before they are moved)."
    ),
    references=("tpu-audit registry show OP: what lowering the op showed",),
)

_SOMETIMES = "in some samples"
"""The registry's words for a read that the arguments decide, which it could not tell apart."""
_READ = "hands a value of a TPU tensor to Python"


def detect(call: Call) -> Hit | None:
    """Report host reads: those the trace saw and those the registry knows of."""
    reason = _reason(call)
    if reason is None:
        return None
    severity = Severity.INFO if _SOMETIMES in reason and not _always(call) else None
    fix = avoiding_sync(call.packet, call.snapshot)
    return Hit(code=CODE, hazard=Hazard.HOST_SYNC, severity=severity, reason=reason, fix=fix)


def _reason(call: Call) -> str | None:
    if mask := unbounded_mask(call):
        return f"counts the true values of its {mask} mask on the host"
    known = call.registry_hazard(Hazard.HOST_SYNC)
    if known and not _spared(call) and not (_SOMETIMES in known and _never(call)):
        return known
    return _READ if call.use.host_read else None


def _spared(call: Call) -> bool:
    """Whether the arguments avoid the read that the op is known for."""
    return size_is_given(call) or indexes_without_counting(call) or _value_on_host(call)


def _value_on_host(call: Call) -> bool:
    """Whether a ``masked_fill`` takes its value from the host, so that nothing is read back."""
    values = [t for t in call.use.inputs if not t.shape and t.device == "cpu"]
    return call.packet in {"aten.masked_fill", "aten.masked_fill_"} and bool(values)


def _never(call: Call) -> bool:
    """Whether verification tried the call's dtype and met no read at it."""
    known = call.judgement.known
    return bool(known and known.lowered.tried) and not _reads(call)


def _always(call: Call) -> bool:
    """Whether the trace saw the read, or no sample at the call's dtype did without."""
    known = call.judgement.known
    return call.use.host_read or known is None or syncs(known)


def _reads(call: Call) -> bool:
    known = call.judgement.known
    said = known.lowered.said if known else ()
    return any(item.cause is Cause.HOST_SYNC for item in said)
