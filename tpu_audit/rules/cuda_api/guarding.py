"""Repairs of calls that raise on a host without an accelerator: written under a test for one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair

if TYPE_CHECKING:
    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.python.module import Module

_AVAILABLE = "torch.accelerator.is_available"


def replace_call(call: ast.Call, text: str, module: Module) -> Fix:
    """Return the fix that writes ``text``, a call under torch.accelerator, over ``call``.

    Safe where the call is a statement of its own: it is then put under a test that an accelerator
    is available. Unsafe elsewhere, since it raises on a host without one.
    """
    if is_guarded(call, module):
        return repair.fix(module, Applicability.SAFE, module.edit(call, text))
    statement = module.parent(call)
    if isinstance(statement, ast.Expr) and _alone(statement, module):
        indent = " " * statement.col_offset
        torch = repair.torch_name(module)
        guarded = f"if {torch}.accelerator.is_available():\n{indent}    {text}"
        return repair.fix(module, Applicability.SAFE, module.edit(statement, guarded))
    return repair.fix(module, Applicability.UNSAFE, module.edit(call, text))


def is_guarded(node: ast.AST, module: Module) -> bool:
    """Tell whether ``node`` runs only where an accelerator is available."""
    child, parent = node, module.parent(node)
    while parent is not None:
        if isinstance(parent, ast.If) and child in parent.body and _asks(parent.test, module):
            return True
        child, parent = parent, module.parent(parent)
    return False


def _asks(test: ast.expr, module: Module) -> bool:
    operands = test.values if isinstance(test, ast.BoolOp) else [test]
    joined = not isinstance(test, ast.BoolOp) or isinstance(test.op, ast.And)
    return joined and any(
        isinstance(operand, ast.Call) and module.is_named(operand.func, _AVAILABLE)
        for operand in operands
    )


def _alone(statement: ast.Expr, module: Module) -> bool:
    """Tell whether a statement has its lines for itself, indented with spaces."""
    start, end = module.byte_range(statement)
    data = module.source.encoded
    before = data[data.rfind(b"\n", 0, start) + 1 : start]
    line_end = len(data) if (at := data.find(b"\n", end)) < 0 else at
    rest = data[end:line_end].strip()
    return not before.strip(b" ") and (not rest or rest.startswith(b"#"))
