"""TPA925: a reference kernel does the work."""

from __future__ import annotations

from op_registry.schema import Hazard
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.audit.detectors.no_gradient import INFERENCE, kept
from tpu_audit.audit.reference import INSTALL, KEEPING_GRADIENT, kernels_for
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA925",
    name="runs-on-reference-kernel",
    severity=Severity.WARNING,
    summary="The op runs on a reference kernel of the registry, not on one of TorchTPU's.",
    why=(
        "TorchTPU has no kernel for the op, or one that loses the gradient. The reference kernel "
        "is plain PyTorch over ops that have TPU kernels, checked against eager PyTorch: it is "
        "right, and it may be slower than a kernel made for the TPU. It has to be installed in "
        "every process."
    ),
    fix=f"Install the reference kernels before the model is built: `{INSTALL}`.",
    references=("tpu-audit registry show OP: the reference kernel and its check",),
)

_PIECES = "runs in the pieces that PyTorch composes it of, not on the TPU kernel"


def detect(call: Call) -> Hit | None:
    """Report calls that need a reference kernel, where the model is judged with them."""
    ops = call.judgement.installed
    kernels = kernels_for(ops, call.snapshot)
    if kernels:
        named = ", ".join(f"{kernel} for {op}" for kernel, op in zip(kernels, ops, strict=True))
        reason = f"runs on a reference kernel: {named}"
    elif call.settings.phase not in INFERENCE and call.use.grad_inputs and kept(call):
        reason = f"keeps its gradient by {KEEPING_GRADIENT}: {_PIECES}"
    else:
        return None
    return Hit(code=CODE, hazard=Hazard.SLOW_PATH, reason=reason, cause=",".join(ops))
