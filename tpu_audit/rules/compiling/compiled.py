"""What the rules on torch.compile share: its calls, their arguments, and what is compiled."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python import dicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WORDS = frozenset({"fullgraph", "dynamic", "backend", "mode", "options", "disable"})
REFERENCE = "https://docs.pytorch.org/docs/stable/generated/torch.compile.html"


def compile_calls(module: Module) -> Iterator[ast.Call]:
    """Iterate over calls that compile or say how: ``torch.compile(f)``, ``model.compile(...)``.

    Partial applications and transformers' ``CompileConfig`` count.
    """
    yield from module.uses.called("torch.compile")
    yield from module.uses.called("transformers.CompileConfig")
    for partial in module.uses.called("functools.partial"):
        if partial.args and module.is_named(partial.args[0], "torch.compile"):
            yield partial
    for attribute in module.index.attributes.get("compile", ()):
        call = module.parent(attribute)
        if isinstance(call, ast.Call) and call.func is attribute and _is_module(call, module):
            yield call


def _is_module(call: ast.Call, module: Module) -> bool:
    """Tell whether ``x.compile(...)`` has torch.compile's arguments and is no package's."""
    words = {argument.arg for argument in call.keywords}
    own = isinstance(call.func, ast.Attribute) and not module.is_imported(call.func.value)
    return own and bool(words & _WORDS) and not module.is_named(call.func, "torch.compile")


def argument(call: ast.Call, name: str, module: Module) -> Iterator[tuple[ast.expr, bool]]:
    """Iterate over what a call passes by keyword, and whether it stands in the call itself.

    ``**options`` is looked up in the file.
    """
    for given in call.keywords:
        if given.arg == name:
            yield given.value, True
        elif given.arg is None:
            for value in module.dicts.entries(given.value, {name}):
                yield value, False


def compiled_functions(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Iterate over the functions of a file that it compiles: decorated, or passed by name."""
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
    functions += module.index.of(ast.FunctionDef)
    functions += module.index.of(ast.AsyncFunctionDef)
    for function in functions:
        if any(_compiles(decorator, module) for decorator in function.decorator_list):
            yield function
    for call in module.uses.called("torch.compile"):
        for name in call.args[:1]:
            if isinstance(name, ast.Name):
                for binding in module.scopes.bindings(name):
                    if isinstance(binding.node, _FUNCTIONS):
                        yield binding.node


def _compiles(decorator: ast.expr, module: Module) -> bool:
    callee = decorator.func if isinstance(decorator, ast.Call) else decorator
    if module.is_named(callee, "torch.compile"):
        return True
    partial = isinstance(decorator, ast.Call) and module.is_named(callee, "functools.partial")
    return (
        partial
        and isinstance(decorator, ast.Call)
        and bool(decorator.args)
        and module.is_named(decorator.args[0], "torch.compile")
    )


def entries(node: ast.expr, module: Module) -> list[tuple[str, ast.expr]]:
    """Return the entries with literal keys of a dict that stands there or in a variable."""
    if isinstance(node, ast.Name):
        values = [binding.value for binding in module.scopes.bindings(node)]
        return [e for v in values if isinstance(v, ast.Dict | ast.Call) for e in entries(v, module)]
    return [
        (key.value, value)
        for key, value in dicts.items(node)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    ]
