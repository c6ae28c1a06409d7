"""Calls within one file: what is passed to a function's parameters, and what it returns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python.walk import children

if TYPE_CHECKING:
    from tpu_audit.rules.python.module import Module

Function = ast.FunctionDef | ast.AsyncFunctionDef
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_MOST = 30
"""Call sites looked at: a function called more often than that is a library."""


class Calls:
    """Call sites and results of the functions of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._returns: dict[Function, list[ast.expr]] = {}

    def sites(self, function: Function) -> list[ast.Call]:
        """Return calls of a function by its name, or as a method of anything where it is one."""
        parents = self._module.index.parents
        owner = parents.get(function)
        if isinstance(owner, ast.ClassDef) and function.name == "__init__":
            uses: list[ast.expr] = list(self._module.index.names.get(owner.name, ()))
        elif isinstance(owner, ast.ClassDef):
            uses = self._methods(function.name)
        else:
            uses = list(self._module.index.names.get(function.name, ()))
        pairs = ((parents[use], use) for use in uses[:_MOST])
        return [p for p, use in pairs if isinstance(p, ast.Call) and p.func is use]

    def only_sites(self, function: Function) -> list[ast.Call]:
        """Return the calls of a function; none where it is also used in another way."""
        parents = self._module.index.parents
        method = isinstance(parents.get(function), ast.ClassDef)
        table = self._module.index.attributes if method else self._module.index.names
        uses = table.get(function.name, [])
        sites = self.sites(function)
        return sites if len(uses) == len(sites) else []

    def _methods(self, name: str) -> list[ast.expr]:
        """Return uses of a method: of ``self`` only where several functions have its name."""
        found = self._module.index.attributes.get(name, [])
        if sum(node.name == name for node in self._module.index.definitions) == 1:
            return [*found]
        return [n for n in found if isinstance(n.value, ast.Name) and n.value.id in {"self", "cls"}]

    def passed(self, function: Function, argument: ast.arg) -> list[ast.expr]:
        """Return what the calls in this file pass for a parameter."""
        positional = [*function.args.posonlyargs, *function.args.args]
        bound = _is_bound(function, self._module.index.parents.get(function))
        place = positional.index(argument) - bound if argument in positional else -1
        found = []
        for call in self.sites(function):
            found += [k.value for k in call.keywords if k.arg == argument.arg]
            if 0 <= place < len(call.args) and not _has_star(call.args[: place + 1]):
                found.append(call.args[place])
        return found

    def returned(self, function: Function) -> list[ast.expr]:
        """Return the expressions that a function returns; nested functions' are not its own."""
        if function not in self._returns:
            self._returns[function] = _returns(function)
        return self._returns[function]


def _is_bound(function: Function, owner: ast.AST | None) -> bool:
    static = any(getattr(d, "id", "") == "staticmethod" for d in function.decorator_list)
    return isinstance(owner, ast.ClassDef) and not static


def _has_star(nodes: list[ast.expr]) -> bool:
    return any(isinstance(node, ast.Starred) for node in nodes)


def _returns(function: Function) -> list[ast.expr]:
    found: list[ast.expr] = []
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node.value)
        elif not isinstance(node, (*_NESTED, ast.expr)):
            stack += children(node)
    return found
