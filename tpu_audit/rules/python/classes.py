"""Attributes of classes: what is stored in ``self.x``, in a class body, in a dataclass field."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

from tpu_audit.rules.python.walk import descend

if TYPE_CHECKING:
    from tpu_audit.rules.python.module import Module


_IDENTIFIER = re.compile(r"\w+")


_MOST = 40
"""Values of one attribute that are looked at: generated code may have thousands."""


class Classes:
    """Stores to attributes in one module, by class."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[tuple[ast.ClassDef, str], tuple[ast.expr, ...]] = {}

    @cached_property
    def by_name(self) -> dict[str, ast.ClassDef]:
        """Classes of the module by name, the last of a name."""
        return {node.name: node for node in self._module.index.of(ast.ClassDef)}

    def enclosing(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the innermost class that ``node`` stands in."""
        parents = self._module.index.parents
        parent: ast.AST | None = node
        while parent is not None and parent.__class__ is not ast.ClassDef:
            parent = parents.get(parent)
        return parent if isinstance(parent, ast.ClassDef) else None

    def stored(self, node: ast.Attribute) -> tuple[ast.expr, ...]:
        """Return what may be in ``self.attr`` or ``cls.attr``: assigned in methods or the body."""
        owner = self.enclosing(node)
        return self.attribute(owner, node.attr) if owner is not None else ()

    def attribute(self, owner: ast.ClassDef, name: str, depth: int = 4) -> tuple[ast.expr, ...]:
        """Return what is stored in an attribute of a class or of its bases in this module."""
        key = (owner, name)
        if key not in self._known:
            self._known[key] = ()  # for classes that inherit from one another
            self._known[key] = self._find(owner, name, depth)[:_MOST]
        return self._known[key]

    def _find(self, owner: ast.ClassDef, name: str, depth: int) -> tuple[ast.expr, ...]:
        found = [
            value
            for store in self._own_stores(name)
            for value in (self._assigned(store),)
            if value is not None and self.enclosing(store) is owner
        ]
        found += _in_body(owner, name)
        found += self._of_property(owner, name)
        if found or not depth:
            return tuple(found)
        bases = [base for base in owner.bases if isinstance(base, ast.Name)]
        known = [self.by_name[base.id] for base in bases if base.id in self.by_name]
        return tuple(
            value
            for base in known
            if base is not owner
            for value in self.attribute(base, name, depth - 1)
        )

    def _of_property(self, owner: ast.ClassDef, name: str) -> list[ast.expr]:
        """Return what a property of the class gives."""
        methods = (node for node in owner.body if isinstance(node, ast.FunctionDef))
        return [
            value
            for method in methods
            if method.name == name and any(map(_is_property, method.decorator_list))
            for value in self._module.calls.returned(method)
        ]

    def _own_stores(self, name: str) -> list[ast.Attribute]:
        """Return the places that write to ``self.NAME``."""
        stores = self._module.index.attributes.get(name, ())
        return [store for store in stores if isinstance(store.ctx, ast.Store) and _is_own(store)]

    def stored_in(self, holder: str, name: str) -> list[ast.expr]:
        """Return what statements of the file assign to ``holder.name``."""
        values = [
            self._assigned(store)
            for store in self._module.index.attributes.get(name, ())
            if isinstance(store.ctx, ast.Store)
            and isinstance(store.value, ast.Name)
            and store.value.id == holder
        ]
        return [value for value in values if value is not None][:_MOST]

    def fields(self, node: ast.Attribute) -> tuple[ast.expr, ...]:
        """Return defaults of ``config.attr`` where ``config`` is of a class of this module."""
        base = node.value
        if isinstance(base, ast.Name) and base.id in self.by_name:
            return self.attribute(self.by_name[base.id], node.attr)
        return tuple(
            value for owner in self._classes_of(base) for value in self.attribute(owner, node.attr)
        )

    def _classes_of(self, node: ast.expr) -> list[ast.ClassDef]:
        """Return the classes of this module that an expression is annotated with or made by."""
        if not self.by_name or not isinstance(node, ast.Name):
            return []
        hints: list[ast.expr | None] = []
        for binding in self._module.scopes.bindings(node):
            hints.append(getattr(binding.node, "annotation", None))
            if isinstance(binding.value, ast.Call):
                hints.append(binding.value.func)
        words = {word for hint in hints if hint is not None for word in _words(hint)}
        return [self.by_name[word] for word in words if word in self.by_name]

    def _assigned(self, store: ast.Attribute) -> ast.expr | None:
        parent = self._module.index.parents[store]
        if isinstance(parent, ast.Assign | ast.AnnAssign):
            return parent.value
        if isinstance(parent, ast.Tuple):
            holder = self._module.index.parents[parent]
            if isinstance(holder, ast.Assign) and isinstance(holder.value, ast.Tuple):
                values = holder.value.elts
                place = parent.elts.index(store)
                return values[place] if len(values) == len(parent.elts) else None
        return None


def _is_property(decorator: ast.expr) -> bool:
    word = getattr(decorator, "attr", getattr(decorator, "id", ""))
    return word in {"property", "cached_property"}


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}


def _in_body(owner: ast.ClassDef, name: str) -> list[ast.expr]:
    """Return defaults in the class body: class attributes, dataclass and pydantic fields."""
    found = []
    for statement in owner.body:
        if isinstance(statement, ast.AnnAssign):
            targets: list[ast.expr] = [statement.target]
        elif isinstance(statement, ast.Assign):
            targets = statement.targets
        else:
            continue
        if statement.value is not None and any(
            isinstance(target, ast.Name) and target.id == name for target in targets
        ):
            found.append(statement.value)
    return found


def _words(hint: ast.expr) -> set[str]:
    """Return the names in an annotation or a callee, quoted ones too."""
    found = {node.id for node in descend(hint) if isinstance(node, ast.Name)}
    if isinstance(hint, ast.Constant) and isinstance(hint.value, str):
        found |= set(_IDENTIFIER.findall(hint.value))
    return found
