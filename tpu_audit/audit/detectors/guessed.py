"""TPA917: the trace took a path that it had to guess."""

from __future__ import annotations

from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA917",
    name="guessed-value",
    severity=Severity.INFO,
    summary="A value or size that depends on the weights was guessed to go on tracing.",
    why=(
        "Without weights the trace cannot know it. What follows is one possible course: another "
        "branch, or other sizes, were not looked at. A verdict that rests on a guess is never "
        "better than `ready_with_warnings`."
    ),
    fix="Look at the branch in the source line, or make the computation independent of data.",
)


def detect(call: Call) -> Hit | None:
    """Report calls with guesses."""
    if not call.use.guesses:
        return None
    return Hit(code=CODE, reason="its result depends on the weights and was guessed")
