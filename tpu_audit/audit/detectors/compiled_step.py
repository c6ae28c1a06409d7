"""TPA931: each call, or each decoded token, compiles anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.audit.code import Code
from tpu_audit.types.compiled import Change
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpu_audit.types.compiled import Recompile

CODE = Code(
    code="TPA931",
    name="compiled-each-step",
    severity=Severity.WARNING,
    summary="Something that changes from call to call compiles the graph anew each time.",
    why=(
        "torch_tpu compiles for fixed shapes and values: a cache that grows by a token, or a "
        "counter in Python, makes every call a new XLA program, which takes seconds. After eight "
        "Dynamo gives up on the function and runs it op by op."
    ),
    fix=(
        "Keep what changes in a tensor of fixed shape: a preallocated buffer and a position, not a "
        "list or a growing tensor; a counter as a tensor on the device."
    ),
    references=("TORCH_LOGS=recompiles", "torch._dynamo.config.recompile_limit"),
)

_STEPS = {
    Change.NOTHING: "the same inputs again compile anew",
    Change.VALUES: "each new number that is read from the TPU compiles anew",
    Change.TOKEN: "each decoded token compiles anew",
}
_VALUES = (
    "Do not read the number: keep the decision on the device and the shapes fixed. What Python "
    "learns of the data is compiled into the next graph as a constant, or as the size of a tensor."
)
_STATIC = 'Generate with `cache_implementation="static"`'


def describe(found: Recompile) -> str | None:
    """Say what compiles anew at each step, and why; None where nothing does."""
    said = _STEPS.get(found.change)
    if said is None or not found.anew:
        return None
    return said + (f": {found.guard}" if found.guard else "")


def fix(found: Recompile, all_found: Sequence[Recompile]) -> str:
    """Say what to do; for a cache that grows, whether a static one was seen to help."""
    if found.change is Change.VALUES:
        return _VALUES
    if found.change is not Change.TOKEN:
        return CODE.fix
    static = next((one for one in all_found if one.change is Change.TOKEN_STATIC), None)
    if static is None:
        return CODE.fix
    if static.anew:
        return f"{CODE.fix} A static cache alone does not help: {static.guard or 'tried here'}."
    return f"{_STATIC}: tried here, and no token after the second compiled anew."
