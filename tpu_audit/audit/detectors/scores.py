"""TPA918: attention written out, with a large score matrix."""

from __future__ import annotations

from op_registry.schema import Hazard
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.audit.sizes import human, nbytes
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA918",
    name="attention-written-out",
    severity=Severity.WARNING,
    summary="A softmax runs over a large (batch, heads, queries, keys) matrix.",
    why=(
        "Attention from separate matmul and softmax writes and reads the whole score matrix: "
        "quadratic in the sequence length, in memory and in traffic. The flash kernel never "
        "writes it."
    ),
    fix=(
        'Use scaled_dot_product_attention: in transformers `attn_implementation="sdpa"`, for '
        "the classes that offer it."
    ),
)

LARGE = 64 * 2**20
"""Bytes of one score matrix from which on it is reported: a threshold for attention, chosen so that
short sequences and windows, which cost little, stay quiet."""
MIN_SIDE = 512
"""Queries and keys at least: below it the other dimensions (windows, batch) are what is large."""

_SOFTMAX = frozenset({"aten._softmax", "aten._safe_softmax"})
_RANK = 4


def detect(call: Call) -> Hit | None:
    """Report a softmax over a score matrix of ``LARGE`` bytes or more."""
    if call.packet not in _SOFTMAX or not call.use.outputs:
        return None
    scores = call.use.outputs[0]
    sides = scores.shape[-2:]
    if len(scores.shape) != _RANK or min(sides) < MIN_SIDE or nbytes(scores) < LARGE:
        return None
    reason = f"attention written out: {human(nbytes(scores))} of scores a call"
    return Hit(code=CODE, hazard=Hazard.SLOW_PATH, reason=reason)
