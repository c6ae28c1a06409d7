"""TPA915: the output is cut off from autograd."""

from __future__ import annotations

from op_registry.schema import Hazard
from tpu_audit.audit.advice import keeping_gradient
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.audit.detectors.missing import either
from tpu_audit.audit.reference import KEEP_GRADIENT, keeps_gradient
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA915",
    name="lost-gradient",
    severity=Severity.ERROR,
    summary="The op runs, but its output is detached from the autograd graph on the TPU.",
    why=(
        "A TPU kernel sits over a composite op and nothing is registered for autograd: training "
        "goes on without an error and silently learns nothing behind this op. Inference is not "
        "affected, so in a forward pass this is information only. Some kernels keep the gradient "
        "in eager mode and lose it under torch.compile: a warning."
    ),
    fix=(
        "Before training, replace the op by pieces that have derivatives, and check that the "
        "parameters behind it receive gradients."
    ),
    references=("tpu-audit registry show OP: kernel at PrivateUse1, fallthrough for autograd",),
)

INFERENCE = frozenset({"forward", "prefill", "decode", "generate"})
"""Phases in which no gradient is asked for."""


def detect(call: Call) -> Hit | None:
    """Report ops that lose gradients; in training only where an input requires grad."""
    reason = call.registry_hazard(Hazard.NO_GRADIENT)
    inference = call.settings.phase in INFERENCE
    if reason is None or kept(call) or not (inference or call.use.grad_inputs):
        return None
    if inference:
        reason = f"no gradient in training (inference is not affected): {reason}"
    return Hit(
        code=CODE,
        hazard=Hazard.NO_GRADIENT,
        severity=Severity.INFO if inference else _in_training(call),
        reason=reason,
        fix=either(
            KEEP_GRADIENT if keeps_gradient(call.record) else None,
            keeping_gradient(call.packet, call.snapshot),
        ),
    )


def _in_training(call: Call) -> Severity:
    kept = call.record is not None and call.record.eager_gradient
    return Severity.WARNING if kept else CODE.severity


def kept(call: Call) -> bool:
    """Whether the call keeps its gradient because reference kernels are installed."""
    return call.platform.reference_kernels and keeps_gradient(call.record)
