"""TPA921: the checkpoint is quantised, the trace is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.audit.code import Code
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from tpu_audit.types.model import ModelSpec

CODE = Code(
    code="TPA921",
    name="quantised-checkpoint",
    severity=Severity.WARNING,
    summary="The config asks for quantised weights.",
    why=(
        "Quantised layers are put in by a package of their own when weights are loaded, with "
        "kernels of their own, mostly CUDA ones. The trace is of the unquantised model, so the "
        "verdict does not cover them."
    ),
    fix=(
        "Use the unquantised checkpoint in bfloat16, or dequantise while loading on the CPU, and "
        "remove `quantization_config`."
    ),
)


def describe(spec: ModelSpec) -> str | None:
    """Return the finding's message, or None when the config asks for no quantisation."""
    config = spec.config.get("quantization_config")
    if not config:
        return None
    method = config.get("quant_method") if isinstance(config, dict) else None
    named = method if isinstance(method, str) else "an unnamed method"
    return f"the checkpoint is quantised ({named}); traced was the unquantised model"
