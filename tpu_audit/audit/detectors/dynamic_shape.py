"""TPA911: how large the output is depends on data."""

from __future__ import annotations

from op_registry.schema import Hazard
from tpu_audit.audit.advice import avoiding_sync
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA911",
    name="dynamic-shape",
    severity=Severity.WARNING,
    summary="The size of the output depends on the values of the input.",
    why=(
        "XLA programs have fixed shapes. The host has to wait for the size, and every size not "
        "met before compiles this op and all that follow it anew; torch.compile breaks the graph."
    ),
    fix=(
        "Keep shapes fixed: compute on the full tensor and mask (`torch.where`, multiply by the "
        "mask), or pad to one size."
    ),
    references=("tpu-audit registry show OP",),
)

_INDEX = "aten.index"
_PUTS = frozenset({"aten.index_put", "aten.index_put_", "aten._index_put_impl_"})
_MASKS = frozenset({"bool", "uint8"})
_SELF_MASK_VALUES = 3


def detect(call: Call) -> Hit | None:
    """Report data-dependent output shapes."""
    reason = _reason(call)
    if reason is None:
        return None
    fix = avoiding_sync(call.packet, call.snapshot)
    return Hit(code=CODE, hazard=Hazard.DYNAMIC_SHAPE, reason=reason, fix=fix)


def _reason(call: Call) -> str | None:
    if not call.use.outputs:
        return None  # a Python value has no shape: that is a host sync
    if call.packet == _INDEX and (mask := unbounded_mask(call)):
        return f"selects by a {mask} mask: the output has as many rows as the mask has true values"
    known = call.registry_hazard(Hazard.DYNAMIC_SHAPE)
    return (
        known if known and not size_is_given(call) and not indexes_without_counting(call) else None
    )


def size_is_given(call: Call) -> bool:
    """Whether the caller passed the output's size, which makes the shape static."""
    return call.use.args.get("output_size") is not None


def unbounded_mask(call: Call) -> str | None:
    """Return the dtype of a mask whose true values must be counted, or None.

    Reading by a mask always counts. Writing by one does not where the values broadcast over the
    selected rows: that is a select. (Seen when lowering such calls with torch-tpu 0.2.0.)
    """
    masks = [t for t in call.use.inputs[1:] if t.dtype in _MASKS and t.shape]
    if call.packet == _INDEX and masks:
        return masks[0].dtype
    if call.packet not in _PUTS or len(call.use.inputs) != _SELF_MASK_VALUES:
        return None
    target, mask, values = call.use.inputs
    if mask.dtype not in _MASKS:
        return None
    rows_at = len(target.shape) - len(mask.shape) + 1
    rows = values.shape[-rows_at] if len(values.shape) >= rows_at else 1
    return mask.dtype if rows != 1 else None


def indexes_without_counting(call: Call) -> bool:
    """Whether an index or index_put call counts no mask: its shape follows from its inputs'."""
    return (call.packet == _INDEX or call.packet in _PUTS) and unbounded_mask(call) is None
