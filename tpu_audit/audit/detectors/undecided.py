"""TPA903: nothing proves that the call runs, nothing proves that it does not."""

from __future__ import annotations

from op_registry.schema import Support
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.audit.reference import install_advice
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA903",
    name="undecided-op",
    severity=Severity.WARNING,
    summary="The registry does not decide whether the call runs.",
    why=(
        "It may raise on the TPU. An undecided op is never counted as supported, so the verdict "
        "is `unknown` until evidence exists."
    ),
    fix=(
        "Try the call where torch-tpu is installed, or adopt a registry that decides it "
        "(`tpu-audit registry build`, then `--registry PATH`)."
    ),
    references=("tpu-audit registry show OP",),
)


def detect(call: Call) -> Hit | None:
    """Report a call whose support is ``unknown``."""
    judgement = call.judgement
    if judgement.support is not Support.UNKNOWN:
        return None
    reason = f"not decided: {judgement.reason}"
    fix = install_advice(judgement.culprits, call.snapshot)
    return Hit(code=CODE, reason=reason, fix=fix, cause=",".join(judgement.culprits))
