"""TPA916: float16 on matrix units that have none."""

from __future__ import annotations

from op_registry.schema import Hazard
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA916",
    name="float16-compute",
    severity=Severity.WARNING,
    summary="Matrix products run in float16.",
    why=(
        "The matrix units multiply bfloat16: float16 operands are converted, so float16 keeps its "
        "narrow range and loses its extra precision. Attention in float16 also misses the flash "
        "kernel, and GradScaler has no TPU kernels."
    ),
    fix="Load the model in bfloat16 (`dtype=torch.bfloat16`); autocast with the same dtype.",
    references=("TorchTPU documentation, GPU to TPU migration guide",),
)


def detect(call: Call) -> Hit | None:
    """Report matrix products on float16: calls with FLOPs, or with a count that is not known."""
    if call.use.flops == 0 or not any(t.dtype == "float16" for t in call.on_device):
        return None
    return Hit(
        code=CODE,
        hazard=Hazard.SLOW_PATH,
        reason="float16 matrix products: the matrix units take bfloat16",
        about_op=False,
    )
