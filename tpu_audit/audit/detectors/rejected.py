"""TPA902: a kernel exists and refuses the call."""

from __future__ import annotations

from op_registry.schema import Support
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA902",
    name="rejected-call",
    severity=Severity.ERROR,
    summary="A TPU kernel exists but refuses this dtype or argument.",
    why="The call raises on the TPU although the op as such is supported.",
    fix="Change the dtype or the argument that the message names before the call.",
    references=("tpu-audit registry show OP: the kernel's own message",),
)


def detect(call: Call) -> Hit | None:
    """Report a call whose support is ``rejected``."""
    if call.judgement.support is not Support.REJECTED:
        return None
    dtypes = ",".join(sorted({t.dtype for t in call.on_device}))
    reason = f"refused for {dtypes}: {call.judgement.reason}"
    return Hit(code=CODE, reason=reason, cause=dtypes)
