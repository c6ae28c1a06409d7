"""Expressions for the module of a device: ``getattr(torch, device.type)`` and its like."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.symbols.table import cuda_symbols, tpu_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

_DEPTH = 4
_GET = "torch.get_device_module"
SUBMODULES = frozenset({"amp", "nvtx"})
"""Modules of ``torch.cuda`` that ``torch.tpu`` lacks."""
_KNOWN = frozenset({"cuda", "mps", "xpu", "npu", "hpu", "mlu", "musa", "mtia", "tpu"})


def uses_of_device_module(module: Module) -> Iterator[tuple[ast.expr, str]]:
    """Iterate over attributes taken of the module of a device that is chosen at run time.

    With each: the attribute's name, where ``torch.cuda`` has such a name.
    """
    for name in attributes():
        for attribute in module.index.attributes.get(name, ()):
            if is_device_module(attribute.value, module):
                yield attribute, name
    for callee in module.index.names.get("getattr", ()):
        call = module.parent(callee)
        if isinstance(call, ast.Call) and len(call.args) == 2:  # noqa: PLR2004 # no fallback
            for name in module.value(call.args[1]).strings():
                if name in attributes() and is_device_module(call.args[0], module):
                    yield call, name


def attributes() -> frozenset[str]:
    """Return the names of ``torch.cuda`` that are no use in ``torch.tpu``: absent or internal."""
    tpu = tpu_names()
    return SUBMODULES | {
        last
        for name in cuda_symbols()
        for head, _, last in (name.rpartition("."),)
        if head == "torch.cuda" and (last not in tpu or tpu[last].internal)
    }


def is_device_module(node: ast.expr, module: Module, depth: int = _DEPTH) -> bool:
    """Tell whether an expression is the module of a device chosen at run time."""
    if isinstance(node, ast.Call):
        results = _results(node, module) if depth else []
        return _is_lookup(node, module) or any(
            is_device_module(result, module, depth - 1) for result in results
        )
    if isinstance(node, ast.NamedExpr):
        return is_device_module(node.value, module, depth)
    if not depth:
        return False
    values: list[ast.expr | None] = []
    if isinstance(node, ast.Name):
        values += [binding.value for binding in module.scopes.bindings(node)]
    elif isinstance(node, ast.Attribute):
        values += module.classes.stored(node)
    return any(v is not None and is_device_module(v, module, depth - 1) for v in values)


def is_of_device_module(node: ast.expr, module: Module) -> bool:
    """Tell whether a name is taken of such a module, which may be ``torch.cuda`` by default."""
    return isinstance(node, ast.Attribute) and is_device_module(node.value, module)


def _is_lookup(call: ast.Call, module: Module) -> bool:
    if module.is_named(call.func, _GET):
        return not call.args or not _is_refused(call.args[0], module)
    if getattr(call.func, "id", "") != "getattr" or len(call.args) < 2:  # noqa: PLR2004 # of getattr
        return False
    return "torch" in module.qualified(call.args[0]) and _is_device_type(call.args[1], module)


def _results(call: ast.Call, module: Module) -> list[ast.expr]:
    """Return what a function of this file returns that the call is of."""
    if not isinstance(call.func, ast.Name):
        return []
    functions = [binding.node for binding in module.scopes.bindings(call.func)]
    return [
        result
        for function in functions
        if isinstance(function, ast.FunctionDef)
        for result in module.calls.returned(function)
    ]


def _is_refused(device: ast.expr, module: Module) -> bool:
    """Tell whether an earlier list of devices lets no TPU come to ``device``: that is the stop."""
    place: ast.AST | None = module.statement(device)
    while isinstance(place, ast.stmt):
        for earlier in module.index.block(place):
            if earlier is place:
                break
            if isinstance(earlier, ast.If) and _refuses(earlier, device, module):
                return True
        place = module.parent(place)
    return False


def _refuses(statement: ast.If, device: ast.expr, module: Module) -> bool:
    """Tell ``if device not in ("cuda", "xpu"): raise``."""
    test = statement.test
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.NotIn):
        return False
    kinds = [getattr(kind, "value", None) for kind in module.elements(test.comparators[0])]
    asked = test.left
    if isinstance(asked, ast.Attribute) and asked.attr == "type":
        asked = asked.value
    same = ast.dump(asked) == ast.dump(device) or ast.dump(test.left) == ast.dump(device)
    return same and bool(kinds) and "tpu" not in kinds and isinstance(statement.body[-1], ast.Raise)


def _is_device_type(node: ast.expr, module: Module) -> bool:
    """Tell whether a name is that of a device, by spelling or by value; ``"cuda"`` alone is not."""
    if isinstance(node, ast.JoinedStr) and len(node.values) == 1:
        part = node.values[0]
        return isinstance(part, ast.FormattedValue) and _is_device_type(part.value, module)
    values = module.value(node)
    if values.complete or _is_refused(node, module):
        return False
    if isinstance(node, ast.Name):
        held = [binding.value for binding in module.scopes.bindings(node)]
        if held and all(isinstance(v, ast.Attribute) and module.is_device(v) for v in held):
            return True
    return module.is_device(node) or bool(_KNOWN & set(values.strings()))
