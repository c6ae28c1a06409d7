"""What fixes write: the spellings that are right on a TPU, on CUDA and on a host without either."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability, Edit, Fix

if TYPE_CHECKING:
    from tpu_audit.rules.python.module import Module

_BARE = (
    *(ast.Call, ast.keyword, ast.Assign, ast.AnnAssign, ast.Return, ast.arguments, ast.Expr),
    *(ast.Dict, ast.List, ast.Tuple, ast.Set, ast.FormattedValue, ast.withitem, ast.NamedExpr),
)
"""Parents under which any expression stands without parentheses."""


def torch_name(module: Module) -> str:
    """Return what the file calls ``torch`` at its top level; ``torch`` where it does not."""
    return module.torch_name


def imports_torch(module: Module) -> bool:
    """Tell whether ``torch`` is imported at the top level of the file."""
    return any(
        isinstance(binding.node, ast.alias)
        for binding in module.scopes.module_bindings(torch_name(module))
    )


def device(module: Module) -> str:
    """Return the expression for the device to use: an ``or``, see `fitted`."""
    torch = torch_name(module)
    return f'{torch}.accelerator.current_accelerator() or {torch}.device("cpu")'


def device_string(module: Module) -> str:
    """Return the same as text, for what takes no ``torch.device``."""
    return f"str({device(module)})"


def backend(module: Module) -> str:
    """Return the expression for a process group's backend."""
    torch = torch_name(module)
    return f"{torch}.distributed.get_default_backend_for_device({device(module)})"


def fitted(module: Module, node: ast.expr, text: str) -> str:
    """Return ``text`` to stand in place of ``node``: in parentheses where its parent needs them.

    ``text`` is an expression that binds no tighter than ``or``.
    """
    parent = module.parent(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        return f"({text})"
    return text if isinstance(parent, _BARE) else f"({text})"


def fix(module: Module, applicability: Applicability, *edits: Edit) -> Fix:
    """Make a fix of ``edits``; adds ``import torch`` where they need it and the file lacks it."""
    needs = not imports_torch(module) and any(
        "torch." in edit.text and not _is_bound(edit, module) for edit in edits
    )
    return Fix(
        edits=edits, applicability=applicability, adds_imports=("import torch",) if needs else ()
    )


def _is_bound(edit: Edit, module: Module) -> bool:
    """Tell whether the function that an edit is in imports ``torch`` before it."""
    offset = module.source.byte_offset
    for scope, bindings in module.scopes.table(torch_name(module)).items():
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            start, end = module.byte_range(scope)
            places = [offset(*one.end) for one in bindings if isinstance(one.node, ast.alias)]
            if start <= edit.start < end and any(place <= edit.start for place in places):
                return True
    return False


def delete(module: Module, statement: ast.stmt, applicability: Applicability) -> Fix:
    """Make a fix that removes a statement with its lines; ``pass`` where nothing else would be."""
    start, end = module.byte_range(statement)
    data = module.source.encoded
    line_start = max(data.rfind(b"\n", 0, start), data.rfind(b"\r", 0, start)) + 1
    line_end = len(data) if (at := data.find(b"\n", end)) < 0 else at + 1
    rest = data[end:line_end].strip()
    alone = not data[line_start:start].strip() and (not rest or rest.startswith(b"#"))
    if len(module.index.block(statement)) == 1 or not alone:
        return Fix(edits=(Edit(start=start, end=end, text="pass"),), applicability=applicability)
    return Fix(edits=(Edit(start=line_start, end=line_end, text=""),), applicability=applicability)
