"""TPA927: the class that was traced only stands in for the model's own."""

from __future__ import annotations

from tpu_audit.audit.code import Code, Said
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA927",
    name="stand-in-class",
    severity=Severity.WARNING,
    summary="The model's class is code of its repository's own; another class was traced.",
    why=(
        "The repository's code is not run without leave. Traced was the nearest class of "
        "transformers: the one that the repository's `auto_map` names, that its code derives from, "
        "or that its `model_type` stands for. The model's own class may call other ops, so the "
        "verdict is `unknown`, whatever the calls of the class that stands in for it."
    ),
    fix="Read the repository's code, then trace it: `tpu-audit scan --trust-remote-code TARGET`.",
)


def describe(stand_in: str) -> Said:
    """Return what to say of the class that the trace says stood in."""
    return Said(severity=CODE.severity, message=stand_in, fix=CODE.fix)
