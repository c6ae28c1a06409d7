"""TPA922: a Python loop issues the same call again and again."""

from __future__ import annotations

from op_registry.schema import Hazard
from tpu_audit.audit.call import Call, Hit
from tpu_audit.audit.code import Code
from tpu_audit.types.report import Severity

CODE = Code(
    code="TPA922",
    name="unrolled-loop",
    severity=Severity.WARNING,
    summary="One module issues the same call dozens of times from one line.",
    why=(
        "A Python loop over tokens, experts or windows becomes that many launches in eager mode, "
        "and that many copies of its body in a compiled graph: compile time grows with it, and "
        "the matrix units see small operands."
    ),
    fix=(
        "Batch the loop into one call (a batched matmul, a grouped matmul over experts), or use "
        "a scan."
    ),
)

MANY = 64
"""Identical calls a module from which on it is a loop: more than any hand-written repetition."""


def detect(call: Call) -> Hit | None:
    """Report calls that one module repeats ``MANY`` times with the same shapes.

    Views cost nothing, and many reads to the host have a finding of their own.
    """
    per_module = call.use.count // max(len(call.use.modules), 1)
    exempt = call.is_view() or call.use.host_read or not call.use.modules
    if per_module < MANY or exempt:
        return None
    source = call.use.sources[0] if call.use.sources else None
    cause = f"{source.path}:{source.line}" if source else ""
    return Hit(
        code=CODE,
        hazard=Hazard.SLOW_PATH,
        reason=f"a loop: {per_module} identical calls a module",
        cause=cause,
        about_op=not cause,
    )
