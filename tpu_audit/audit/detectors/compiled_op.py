"""TPA933: a compiled graph calls an op that the TPU lacks, and the eager phase does not."""

from __future__ import annotations

from tpu_audit.audit.code import Code
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA933",
    name="compiled-missing-op",
    severity=Severity.ERROR,
    summary="Only the compiled graph calls this op, and no TPU kernel takes the call.",
    why=(
        "torch.compile writes in-place calls as functional ones and traces what eager code "
        "dispatches otherwise; each node is then run by the kernel of its op. One without a kernel "
        "stops the compilation: nothing falls back."
    ),
    fix="Run this part eagerly (`torch.compiler.disable`), or write it with other ops.",
    references=("tpu-audit registry show OP",),
)
