"""TPA913: attention that does not take the flash kernel."""

from __future__ import annotations

from op_registry.schema import Hazard
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.audit.sizes import human
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA913",
    name="attention-misses-flash",
    severity=Severity.WARNING,
    summary="scaled_dot_product_attention runs, but not through the flash kernel.",
    why=(
        "TorchTPU's flash kernel takes bfloat16 and float32, static shapes, and head sizes below "
        "128 or a multiple of 128. Everything else becomes plain attention that writes the whole "
        "score matrix to memory: quadratic in the sequence length."
    ),
    fix="Bring dtype and head size to what the flash kernel takes.",
    references=("torch-tpu 0.2.0: which aten op scaled_dot_product_attention dispatches to",),
)

_PLAIN = frozenset(
    {
        "aten._scaled_dot_product_fused_attention_overrideable",
        "aten._scaled_dot_product_attention_math",
    }
)
_LANES = 128
_RANK = 4
_FLASH_DTYPES = frozenset({"bfloat16", "float32"})


def detect(call: Call) -> Hit | None:
    """Report attention ops that are not flash, with what kept them from it."""
    if call.packet not in _PLAIN or not call.use.inputs:
        return None
    query = call.use.inputs[0]
    head = query.shape[-1] if query.shape else 0
    cause, fix = _cause(query.dtype, len(query.shape), head)
    reason = f"plain attention instead of the flash kernel: {cause}{_scores(call)}"
    return Hit(code=CODE, hazard=Hazard.SLOW_PATH, reason=reason, cause=cause, fix=fix)


def _cause(dtype: str, rank: int, head: int) -> tuple[str, str | None]:
    if dtype not in _FLASH_DTYPES:
        return f"dtype {dtype}", "Run attention in bfloat16."
    if rank != _RANK:
        shape = "(batch, heads, tokens, head size)"
        return f"{rank} dimensions", f"Give query, key and value four dimensions: {shape}."
    if head > _LANES and head % _LANES:
        wide = -(-head // _LANES) * _LANES
        pad = f"Pad query, key and value with zeros to head size {wide} (`F.pad`)"
        return f"head size {head}", f"{pad}, pass `scale={head}**-0.5`, cut the output back."
    return "torch_tpu chose it for these arguments", None


def _scores(call: Call) -> str:
    """Return the size of one call's score matrix, or nothing where the shapes do not say."""
    query, *rest = call.use.inputs
    if not rest or len(query.shape) < 2 or len(rest[0].shape) < 2:  # noqa: PLR2004
        return ""
    size = 2 if query.dtype in {"bfloat16", "float16"} else 4
    for extent in query.shape[:-1]:
        size *= extent
    return f"; {human(size * rest[0].shape[-2])} of scores a call"
