"""Which reads of tensors become sizes: the subject of a rule of its own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python.tensors import tensors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

SIZED = frozenset(
    {
        *("zeros", "ones", "empty", "full", "rand", "randn", "arange", "eye", "view", "reshape"),
        *("expand", "repeat", "interpolate", "new_zeros", "new_ones", "new_full", "new_empty"),
        *("one_hot", "unfold", "narrow", "split", "pad", "tile", "resize"),
    }
)
"""Functions and methods whose arguments are sizes."""
_ARITHMETIC = (ast.BinOp, ast.Tuple, ast.List, ast.UnaryOp)
_READS = frozenset({"int", "float", "round"})


def is_size(read: ast.Call, module: Module) -> bool:
    """Tell whether what a call reads from a tensor becomes a size or the bound of a slice."""
    return any(_takes_sizes(use, module) for use in _uses(read, module))


def _uses(read: ast.expr, module: Module) -> Iterator[ast.expr]:
    """Iterate over a value and the uses of the variable that it is assigned to."""
    yield read
    parent = module.parent(read)
    while isinstance(parent, ast.Call) and getattr(parent.func, "id", "") in _READS:
        read, parent = parent, module.parent(parent)
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        scope = module.scopes.owner(parent.targets[0])
        for use in module.index.names.get(parent.targets[0].id, ()):
            if isinstance(use.ctx, ast.Load) and module.scopes.owner(use) is scope:
                yield use


def _takes_sizes(use: ast.expr, module: Module) -> bool:
    child, parent = use, module.parent(use)
    while isinstance(parent, _ARITHMETIC) or (
        isinstance(parent, ast.Call) and getattr(parent.func, "id", "") in _READS
    ):
        if isinstance(parent, ast.expr):
            child, parent = parent, module.parent(parent)
    if isinstance(parent, ast.keyword):
        is_size_word = parent.arg in {"size", "minlength", "num_classes", "end", "output_size"}
        call = module.parent(parent)
        return is_size_word and isinstance(call, ast.Call)
    if isinstance(parent, ast.Slice):
        holder = module.parent(parent)
        while isinstance(holder, ast.Tuple):
            holder = module.parent(holder)
        return isinstance(holder, ast.Subscript) and tensors(module).may_be(holder.value)
    if not isinstance(parent, ast.Call) or child not in parent.args:
        return False
    # What ``full`` fills in is a value.
    is_value = "full" in getattr(parent.func, "attr", "") and child is not parent.args[0]
    return not is_value and _is_sized(parent, module)


def _is_sized(call: ast.Call, module: Module) -> bool:
    """Tell whether a call is PyTorch's, or a tensor's method, that takes sizes."""
    callee = call.func
    if not isinstance(callee, ast.Attribute) or callee.attr not in SIZED:
        return False
    names = module.qualified(callee)
    return any(n.startswith("torch.") for n in names) or tensors(module).may_be(callee.value)
