"""What a use of a name is for: a call, a test of a type, a probe whether it exists."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

_TYPE_TESTS = frozenset({"isinstance", "issubclass", "type", "cast"})


def call_of(node: ast.expr, module: Module) -> ast.Call | None:
    """Return the call that ``node`` is the callee of."""
    parent = module.parent(node)
    return parent if isinstance(parent, ast.Call) and parent.func is node else None


def is_type_test(node: ast.expr, module: Module) -> bool:
    """Tell whether a class is only compared with: ``isinstance``, a base class, a subscript."""
    parent = module.parent(node)
    while isinstance(parent, ast.Tuple | ast.BinOp | ast.Subscript):
        node, parent = parent, module.parent(parent)
    if isinstance(parent, ast.Call):
        return node in parent.args and getattr(parent.func, "id", "") in _TYPE_TESTS
    return isinstance(parent, ast.ClassDef)


def is_probed(node: ast.expr, attribute: str, module: Module) -> bool:
    """Tell whether a test ``hasattr(..., attribute)`` around ``node`` or before it decides."""
    return any(
        isinstance(call, ast.Call)
        and getattr(call.func, "id", "") == "hasattr"
        and len(call.args) > 1
        and isinstance(call.args[1], ast.Constant)
        and call.args[1].value == attribute
        for test in _tests(node, module)
        for call in ast.walk(test)
    )


def _tests(node: ast.expr, module: Module) -> Iterator[ast.expr]:
    """Iterate over the tests of the branches that ``node`` stands in, itself included."""
    child: ast.AST = node
    parent = module.parent(child)
    while parent is not None:
        if isinstance(parent, ast.If | ast.IfExp | ast.While):
            yield parent.test
        elif isinstance(parent, ast.BoolOp):
            yield from parent.values
        child, parent = parent, module.parent(parent)
