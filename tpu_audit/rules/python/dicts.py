"""Dicts as configs: what stands under a key of a literal dict, a ``dict(...)`` or an update."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module
    from tpu_audit.rules.python.possible import Scalar


class Dicts:
    """Looks keys up in the dicts of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[ast.expr, tuple[ast.expr, ...]] = {}

    def entries(self, holder: ast.expr, keys: set[Scalar]) -> list[ast.expr]:
        """Return the values under any of ``keys`` in the dicts that ``holder`` may be."""
        return [
            value
            for literal in self._literals(holder)
            for key, value in items(literal)
            if isinstance(key, ast.Constant) and key.value in keys
        ] + self._assigned(holder, keys)

    def display(self, holder: ast.expr) -> ast.Dict | None:
        """Return the dict display that an expression is, or the only value of a name."""
        if isinstance(holder, ast.Name):
            values = [binding.value for binding in self._module.scopes.bindings(holder)]
            holder = values[0] if len(values) == 1 and values[0] is not None else holder
        return holder if isinstance(holder, ast.Dict) else None

    def _literals(self, holder: ast.expr) -> tuple[ast.expr, ...]:
        """Return the dict displays and ``dict(...)`` calls that an expression may be."""
        if holder not in self._known:
            self._known[holder] = ()  # for what refers to itself
            self._known[holder] = tuple(self._find(holder))
        return self._known[holder]

    def _find(self, holder: ast.expr) -> Iterator[ast.expr]:
        if isinstance(holder, ast.Dict) or is_dict_call(holder):
            yield holder
            return
        for source in self._sources(holder):
            yield from self._literals(source)

    def _sources(self, holder: ast.expr) -> list[ast.expr]:
        """Return the expressions that give a dict to an expression that is none itself."""
        if isinstance(holder, ast.Name):
            bindings = self._module.scopes.bindings(holder)
            return [binding.value for binding in bindings if binding.value is not None]
        if isinstance(holder, ast.Attribute):
            return [*self._module.classes.stored(holder)]
        if isinstance(holder, ast.Subscript) and isinstance(holder.slice, ast.Constant):
            return self.entries(holder.value, {holder.slice.value})  # type: ignore[arg-type] # a complex key matches nothing
        # OmegaConf.create({...}), Config({...}) and the like keep the keys.
        return holder.args[:1] if isinstance(holder, ast.Call) else []

    def _assigned(self, holder: ast.expr, keys: set[Scalar]) -> list[ast.expr]:
        """Return what ``holder[key] = value`` statements of the file put under the keys."""
        if not isinstance(holder, ast.Name):
            return []
        parents = self._module.index.parents
        uses = (parents[name] for name in self._module.index.names.get(holder.id, ()))
        stores = (u for u in uses if isinstance(u, ast.Subscript) and isinstance(u.ctx, ast.Store))
        return [
            assign.value
            for store in stores
            if isinstance(store.slice, ast.Constant) and store.slice.value in keys
            for assign in (parents[store],)
            if isinstance(assign, ast.Assign)
        ]


def is_dict_call(node: ast.expr) -> bool:
    """Tell whether a node is ``dict(...)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict"


def items(node: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Iterate over keys and values of a dict display or a ``dict(...)`` call."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                yield key, value
    elif isinstance(node, ast.Call):
        for argument in node.keywords:
            if argument.arg is not None:
                yield ast.copy_location(ast.Constant(argument.arg), argument), argument.value
