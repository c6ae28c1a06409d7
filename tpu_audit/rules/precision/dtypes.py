"""What the rules on dtypes share: spellings of dtypes, and whether a user asked for one."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpu_audit.rules.python.module import Module

_SPELLINGS = {
    **dict.fromkeys(("torch.float16", "torch.half", "float16", "fp16", "half"), "float16"),
    **dict.fromkeys(("torch.bfloat16", "bfloat16", "bf16"), "bfloat16"),
    **dict.fromkeys(("torch.float32", "torch.float", "float32", "fp32"), "float32"),
    **dict.fromkeys(("torch.float64", "torch.double", "float64", "fp64"), "float64"),
    **dict.fromkeys(("torch.complex64", "torch.cfloat", "complex64"), "complex64"),
    **dict.fromkeys(("torch.complex128", "torch.cdouble", "complex128"), "complex128"),
}
_WISH = re.compile(r"half|fp_?16|float_?16|16|mixed|precision|quant|dtype|upcast", re.IGNORECASE)
_HALF = re.compile(r"half|fp_?16|float_?16", re.IGNORECASE)
"""Functions that are about the dtype: who calls them asks for it."""
_MAKERS = frozenset({"from_pretrained", "from_config", "from_single_file", "pipeline"})
REFERENCE = "https://docs.pytorch.org/docs/stable/tensor_attributes.html"
AMP = "https://docs.pytorch.org/docs/stable/amp.html"


def dtype_of(node: ast.expr, module: Module) -> str:
    """Return the dtype that an expression certainly names, as ``float16``; empty otherwise."""
    if isinstance(node, ast.Constant):
        return _SPELLINGS.get(node.value, "") if isinstance(node.value, str) else ""
    if not isinstance(node, ast.Name | ast.Attribute):
        return ""
    found = {_SPELLINGS.get(name, "") for name in module.qualified(node)}
    return found.pop() if len(found) == 1 else ""


def is_wished(node: ast.AST, module: Module) -> bool:
    """Tell whether an option or another tensor's dtype decides that ``node`` runs."""
    function = module.context(node).function
    if function is not None and _HALF.search(function.name):
        return True
    child, parent = node, module.parent(node)
    while parent is not None and not isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
        if isinstance(parent, ast.If | ast.IfExp) and child is not parent.test:
            if _WISH.search(module.code(parent.test)):
                return True
        elif isinstance(parent, ast.match_case | ast.BoolOp):
            return True
        child, parent = parent, module.parent(parent)
    return False


def takes_dtype(node: ast.expr, module: Module) -> bool:
    """Tell whether a dtype is used to make, move or compute with tensors at this place.

    Comparisons, tables of dtypes and what loads a checkpoint do not count.
    """
    parent = module.parent(node)
    if isinstance(parent, ast.keyword):
        call = module.parent(parent)
        named = parent.arg in {"dtype", "torch_dtype", "compute_dtype", "weight_dtype"}
        return named and isinstance(call, ast.Call) and _word(call) not in _MAKERS | {"view"}
    if isinstance(parent, ast.Call) and node in parent.args:
        return _word(parent) in {"to", "type", "astype", "set_default_dtype"}
    if isinstance(parent, ast.Assign | ast.AnnAssign):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return any(
            "dtype" in _name(target).lower() or _is_taken(target, module) for target in targets
        )
    return isinstance(parent, ast.arguments)


def _is_taken(target: ast.expr, module: Module) -> bool:
    """Tell whether a variable that holds a dtype and nothing else is worked with, unasked."""
    if not isinstance(target, ast.Name) or len(module.scopes.bindings(target)) != 1:
        return False
    return any(
        not isinstance(module.parent(use), ast.Assign | ast.AnnAssign)
        and takes_dtype(use, module)
        and not is_wished(use, module)
        for use in module.index.names[target.id]
    )


def _word(call: ast.Call) -> str:
    return _name(call.func)


def _name(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def arms_of(node: ast.If, module: Module) -> tuple[str, str]:
    """Return the dtypes that ``if`` and what runs in its place assign or return; empty for none."""
    body = _dtype(node.body, module)
    if not body:
        return "", ""
    return body, _dtype(node.orelse or _after(node, module) or _before(node, module), module)


def _after(node: ast.If, module: Module) -> list[ast.stmt]:
    """Return what runs in place of an arm that returns."""
    if not isinstance(node.body[-1], ast.Return):
        return []
    block = module.index.block(node)
    return block[block.index(node) + 1 :][:1]


def _before(node: ast.If, module: Module) -> list[ast.stmt]:
    """Return the assignment that an arm overwrites: ``d = float32`` before ``if``."""
    first = node.body[0]
    if len(node.body) != 1 or not isinstance(first, ast.Assign):
        return []
    block = module.index.block(node)
    earlier = [s for s in block[: block.index(node)] if isinstance(s, ast.Assign)]
    target = module.code(first.targets[0])
    return [*[s for s in earlier if module.code(s.targets[0]) == target][-1:]]


def _dtype(arm: list[ast.stmt], module: Module) -> str:
    for statement in arm:
        if isinstance(statement, ast.Assign | ast.Return) and statement.value is not None:
            found = dtype_of(statement.value, module)
            if found:
                return found
    return ""
