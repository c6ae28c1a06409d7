"""Which expressions are boolean masks."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.tensors import Holds, tensors

if TYPE_CHECKING:
    from tpu_audit.rules.python.module import Module

_NAME = re.compile(r"(?:^|_)masks?$")
_MAKERS = frozenset(
    {
        *("bool", "eq", "ne", "gt", "lt", "ge", "le", "isnan", "isinf", "isfinite", "isin"),
        *("logical_and", "logical_or", "logical_not", "logical_xor"),
    }
)
_INDICES = frozenset(
    {"nonzero", "argwhere", "argsort", "where", "topk", "flatnonzero", "argmax", "argmin"}
)
"""What makes indices of a mask: indexing with these waits no more."""
_DEPTH = 4


def is_mask(node: ast.expr, module: Module, depth: int = _DEPTH) -> bool:
    """Tell whether an expression is a boolean tensor, by how it is made or named."""
    if isinstance(node, ast.Compare):
        return tensors(module).of(node) not in {Holds.OTHER, Holds.HOST}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return is_mask(node.operand, module, depth) or isinstance(node.operand, ast.Name)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor):
        return is_mask(node.left, module, depth) or is_mask(node.right, module, depth)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in _MAKERS
    if isinstance(node, ast.Name) and depth:
        return _is_named_mask(node, module, depth)
    return isinstance(node, ast.Attribute) and _NAME.search(node.attr) is not None


def _is_index(value: ast.expr) -> bool:
    while isinstance(value, ast.Subscript | ast.Attribute):
        value = value.value
    callee = value.func if isinstance(value, ast.Call) else None
    counts = len(value.args) <= 1 if isinstance(value, ast.Call) else False
    return counts and getattr(callee, "attr", "") in _INDICES


def _is_named_mask(node: ast.Name, module: Module, depth: int) -> bool:
    bindings = module.scopes.bindings(node)
    values = [binding.value for binding in bindings if binding.value is not None]
    if any(_is_index(value) for value in values):
        return False
    if any(is_mask(value, module, depth - 1) for value in values):
        return True
    return _NAME.search(node.id) is not None and tensors(module).of(node) is not Holds.OTHER
