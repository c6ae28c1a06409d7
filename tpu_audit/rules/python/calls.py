"""Calls within one file: what is passed to a function's parameters, and what it returns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

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
        if isinstance(parents.get(function), ast.ClassDef):
            uses: list[ast.expr] = [
                node
                for node in self._module.index.attributes.get(function.name, ())
                if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
            ]
        else:
            uses = list(self._module.index.names.get(function.name, ()))
        pairs = ((parents[use], use) for use in uses[:_MOST])
        return [p for p, use in pairs if isinstance(p, ast.Call) and p.func is use]

    def passed(self, function: Function, argument: ast.arg) -> list[ast.expr]:
        """Return what the calls in this file pass for a parameter."""
        positional = [*function.args.posonlyargs, *function.args.args]
        bound = isinstance(self._module.index.parents.get(function), ast.ClassDef)
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
            stack += ast.iter_child_nodes(node)
    return found
