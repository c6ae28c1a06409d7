"""Uses of dotted names in one file, found from its imports and unknown names, through aliases."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from tpu_audit.rules.python.canonical import canonical
from tpu_audit.rules.python.scopes import default_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

_BUILTINS = frozenset(dir(builtins))
_CHOICES = (ast.IfExp, ast.BoolOp, ast.NamedExpr)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
_PASS_ON = frozenset({ast.Call, ast.arguments, *_CHOICES, *_ASSIGNMENTS})
"""What gives another name to the expression in it."""


class Uses:
    """Every use of a dotted name that the file imports, or that nothing in it defines."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._links: dict[str, list[ast.expr]] = {}
        self._whole: dict[str, list[ast.expr]] = {}
        self._guesses: dict[str, list[ast.expr]] = {}
        self._seen: set[ast.AST] = set()
        self._aliases: list[str] = []
        self._collect()

    def named(self, pattern: str) -> list[ast.expr]:
        """Return the uses of a dotted name, or with ``.*`` of all names below it, taken whole.

        ``TrainingArguments``, defined nowhere, counts as ``transformers.TrainingArguments``;
        ``FloatTensor`` does not, which is ``torch.FloatTensor`` as a rule.
        """
        if pattern.endswith(".*"):
            prefix = pattern[:-1]
            return [n for name, use in self._whole.items() if name.startswith(prefix) for n in use]
        found = self._links.get(pattern, [])
        last = pattern.rpartition(".")[2]
        return found if last.endswith("Tensor") else [*found, *self._guesses.get(last, ())]

    def name_of(self, node: ast.expr, pattern: str) -> str:
        """Return the dotted name by which ``node`` matches ``pattern``."""
        if not pattern.endswith(".*"):
            return pattern
        names = sorted(self._module.qualified(node))
        below = (name for name in names if name.startswith(pattern[:-1]))
        return next(below, pattern.removesuffix(".*"))

    def called(self, pattern: str) -> Iterator[ast.Call]:
        """Iterate over the calls of a dotted name."""
        for node in self.named(pattern):
            parent = self._module.parent(node)
            if isinstance(parent, ast.Call) and parent.func is node:
                yield parent

    def _collect(self) -> None:
        index = self._module.index
        imported = {a.asname or a.name.partition(".")[0] for a in index.of(ast.alias)}
        for identifier in [*imported, *self._unbound(imported)]:
            for name in index.names.get(identifier, ()):
                if isinstance(name.ctx, ast.Load):
                    self._follow(name, alias=False)
        for node in self.dynamic_imports():
            self._follow(node, alias=False)
        while self._aliases:
            for name in index.names.get(self._aliases.pop(), ()):
                if isinstance(name.ctx, ast.Load):
                    self._follow(name, alias=True)

    def _unbound(self, imported: set[str]) -> list[str]:
        """Return identifiers that nothing in the file gives a value: snippets, star imports."""
        index = self._module.index
        bound = imported | index.stores.keys() | index.arguments.keys() | _BUILTINS
        bound |= {node.name for node in index.definitions}
        bound -= {"torch"} & index.arguments.keys()  # handed in: see Names.bound
        return [identifier for identifier in index.names if identifier not in bound]

    def dynamic_imports(self) -> Iterator[ast.Call]:
        """Iterate over ``import_module(...)`` and calls of functions that wrap it."""
        index = self._module.index
        callees: list[ast.expr] = [*self._loaded_modules()]
        for table in (index.attributes, index.names):
            for word, nodes in table.items():
                if "mport" in word or "azy" in word:
                    callees += nodes
        for callee in callees:
            call = self._module.parent(callee)
            if isinstance(call, ast.Call) and call.func is callee:
                yield call
                function = self._module.context(call).function
                yield from self._module.calls.sites(function) if function is not None else ()

    def _loaded_modules(self) -> Iterator[ast.expr]:
        """Iterate over the callees of ``sys.modules.get("torch")``."""
        for modules in self._module.index.attributes.get("modules", ()):
            parent = self._module.parent(modules)
            if isinstance(parent, ast.Attribute) and parent.attr == "get":
                yield parent

    def _follow(self, node: ast.expr, *, alias: bool) -> None:
        """Record a chain of attributes from its root on; go on to the names it is assigned to."""
        names = self._module.qualified(node)
        if not names or node in self._seen:
            return
        self._seen.add(node)
        parents = self._module.index.parents
        parent = parents.get(node)
        extended = isinstance(parent, ast.Attribute)
        if not alias or extended or (isinstance(parent, ast.Call) and parent.func is node):
            self._record(self._links, names, node)
            self._guess(names, node)
        while isinstance(parent, ast.Attribute):
            names = frozenset(canonical(f"{name}.{parent.attr}") for name in names)
            node, parent = parent, parents.get(parent)
            self._record(self._links, names, node)
        if not alias or extended or isinstance(parent, ast.Call):
            self._record(self._whole, names, node)
        self._go_on(node, parent)

    def _guess(self, names: frozenset[str], node: ast.expr) -> None:
        if isinstance(node, ast.Name) and node.id in names and node.id[:1].isupper():
            self._record(self._guesses, names, node)

    def _go_on(self, node: ast.expr, parent: ast.AST | None) -> None:
        if parent.__class__ not in _PASS_ON:
            return
        if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "getattr":
            self._follow(parent, alias=False)
            return
        parents = self._module.index.parents
        while isinstance(parent, _CHOICES):
            if isinstance(parent, ast.NamedExpr):
                self._aliases.append(parent.target.id)
            node, parent = parent, parents.get(parent)
        if isinstance(parent, _ASSIGNMENTS) and parent.value is node:
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            for target in targets:
                self._assigned(target)
                if isinstance(parents.get(parent), ast.ClassDef) and isinstance(target, ast.Name):
                    self._stored(target.id)
        elif isinstance(parent, ast.arguments):
            self._aliases += [
                argument.arg
                for argument in [*parent.posonlyargs, *parent.args, *parent.kwonlyargs]
                if default_of(parent, argument) is node
            ]

    def _assigned(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._aliases.append(target.id)
        elif isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name):
            self._aliases.append(target.elts[0].id)
        elif isinstance(target, ast.Attribute):
            self._stored(target.attr)

    def _stored(self, attribute: str) -> None:
        for use in self._module.index.attributes.get(attribute, ()):
            if isinstance(use.ctx, ast.Load):
                self._follow(use, alias=True)

    @staticmethod
    def _record(table: dict[str, list[ast.expr]], names: frozenset[str], node: ast.expr) -> None:
        for name in names:
            table.setdefault(name, []).append(node)
