"""TPA924: the TPU kernel computes something else than eager PyTorch."""

from __future__ import annotations

import re

from op_registry.evidence import Cause, Said
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.audit.sizes import numel
from tpu_audit.types.proof import disagreement
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA924",
    name="kernel-disagrees",
    severity=Severity.WARNING,
    summary="The op runs, but in verification its kernel disagrees with eager PyTorch.",
    why=(
        "The StableHLO that the kernel builds was run on sample inputs and its results differ from "
        "eager PyTorch's by more than rounding explains, or have another dtype or shape. Nothing "
        "raises; the model may come out different on the TPU."
    ),
    fix=(
        "Compare this op's results on the TPU with the CPU's for your inputs before you rely on "
        "them, or compute it with other ops."
    ),
    references=("tpu-audit registry show OP: the samples by dtype, and by how much they differ",),
)


def detect(call: Call) -> Hit | None:
    """Report a kernel whose results differ at the call's dtype, each op once.

    Another shape goes unreported where the call has an empty result: that is the one which a kernel
    fills although nobody reads it (batch norm's saved statistics in evaluation).
    """
    known = call.judgement.known
    said = disagreement(known) if known else None
    if known is None or said is None:
        return None
    if said.cause is Cause.SHAPE and any(numel(t) == 0 for t in call.use.outputs):
        return None
    differ = f"{said.samples} of {known.numerics.tried} samples at {call.judgement.dtype}"
    reason = f"the kernel disagrees with eager PyTorch in {differ} ({said.cause}): {said.message}"
    return Hit(code=CODE, reason=reason, severity=_severity(said))


def _severity(said: Said) -> Severity:
    """Values of the first result decide what the model computes; the rest is worth a line.

    Later results are statistics for the backward pass (a norm's mean, attention's log-sum-exp), and
    a wider dtype there, as CUDA has it too, costs the reader nothing.
    """
    later = re.match(r"result [1-9]", said.message)
    return Severity.WARNING if said.cause is Cause.VALUES and not later else Severity.INFO
