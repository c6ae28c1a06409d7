"""TPA930: torch.compile cannot take the phase as one graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.audit.code import Code
from tpu_audit.types.compiled import BreakKind
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from tpu_audit.types.compiled import GraphBreak

CODE = Code(
    code="TPA930",
    name="compiled-graph-break",
    severity=Severity.WARNING,
    summary="Dynamo stops here: torch.compile makes more than one graph of the phase.",
    why=(
        "Each graph is an XLA program of its own. Between two of them Python runs, and what it "
        "computes on tensors is dispatched op by op; where a value is read, the host waits for the "
        "TPU. In a loop, or where Dynamo cannot resume, the whole function is left to Python."
    ),
    fix=(
        "Take the obstacle out of the forward, and check with "
        '`torch.compile(model, backend="tpu", dynamic=False, fullgraph=True)`, which raises '
        "where the graph would break."
    ),
    references=("torch._dynamo.explain", "TORCH_LOGS=graph_breaks"),
)

_FIXES = {
    BreakKind.DATA: (
        "Keep the decision on the device (`torch.where` on both results), keep shapes fixed, or "
        "take the value from what the host knows anyway: shapes, config, inputs before they are "
        "moved."
    ),
    BreakKind.LIMIT: (
        "Take out the breaks inside the function first: each layer that is compiled by itself adds "
        "one; or raise `torch._dynamo.config.recompile_limit`."
    ),
}
_LEFT = " The whole function is left to Python, op by op."


def describe(found: GraphBreak) -> str:
    """Say what stops Dynamo."""
    detail = found.detail if found.detail.endswith(".") else f"{found.detail}."
    return f"torch.compile breaks the graph: {found.reason}. {detail}" + (
        _LEFT if found.eager else ""
    )


def fix(found: GraphBreak) -> str:
    """Say what to do about this kind of obstacle."""
    return _FIXES.get(found.kind, CODE.fix)
