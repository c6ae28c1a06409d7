"""What a use of a name is for: a call, a test of a type, a probe whether it exists."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python.walk import descend

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
    while isinstance(parent, ast.Tuple | ast.BinOp):
        node, parent = parent, module.parent(parent)
    if isinstance(parent, ast.Subscript):
        return parent.slice is node
    if isinstance(parent, ast.Call):
        return node in parent.args and getattr(parent.func, "id", "") in _TYPE_TESTS
    return isinstance(parent, ast.ClassDef)


def is_told(node: ast.expr, module: Module) -> bool:
    """Tell whether the code says itself that ``node`` is CUDA's: a TPU does not come here.

    A variable holds the module where a test for CUDA passed, or an enumeration's member decides.
    """
    root = node
    while isinstance(root, ast.Attribute | ast.Call):
        root = root.value if isinstance(root, ast.Attribute) else root.func
    if isinstance(root, ast.Name):
        values = [b.value for b in module.scopes.bindings(root) if b.value is not None]
        given = [value for value in values if module.is_named(value, "torch.cuda", "torch.cuda.*")]
        if given and all(module.reach(value).dead for value in given):
            return True
    return any(
        getattr(one, "attr", "") == "CUDA"
        for test in _tests(node, module)
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.In | ast.Is)
        for one in descend(test)
    )


def is_probed(node: ast.expr, attribute: str, module: Module) -> bool:
    """Tell whether a test ``hasattr(..., attribute)`` around ``node`` or before it decides."""
    return any(
        isinstance(call, ast.Call)
        and getattr(call.func, "id", "") == "hasattr"
        and len(call.args) > 1
        and isinstance(call.args[1], ast.Constant)
        and call.args[1].value == attribute
        for test in _tests(node, module)
        for call in descend(test)
    )


def _tests(node: ast.expr, module: Module) -> Iterator[ast.expr]:
    """Iterate over the tests that hold where ``node`` stands."""
    child: ast.AST = node
    parent = module.parent(child)
    while parent is not None:
        if isinstance(parent, ast.If | ast.IfExp | ast.While):
            orelse = parent.orelse if isinstance(parent.orelse, list) else [parent.orelse]
            if child not in orelse:
                yield parent.test
        elif isinstance(parent, ast.BoolOp):
            yield from parent.values
        child, parent = parent, module.parent(parent)
