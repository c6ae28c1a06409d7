"""Scopes: which bindings a name's use may see."""

from __future__ import annotations

import ast
from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from tpu_audit.rules.python.walk import node_classes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tpu_audit.rules.python.walk import Index

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MOST = 40
"""Bindings of one name that a use may see: the nearest, where generated code has more."""
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
# Sets of classes where nodes are many: several times as fast as `isinstance`.
_SCOPES = frozenset({*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef, ast.Module})
_STATEMENTS = frozenset(node_classes(ast.stmt))
_ENDS = _STATEMENTS | {ast.Lambda, ast.arguments, *_COMPREHENSIONS}
"""Where the names of one expression end."""
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.NamedExpr)
_ITERATIONS = (ast.For, ast.AsyncFor, ast.comprehension)
Declaration = ast.alias | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Position = tuple[int, int]


class Kind(Enum):
    """How a name comes to its value."""

    IMPORT = auto()
    ASSIGN = auto()
    UNPACKED = auto()
    """The first of several names that share what a call returns."""
    AUGMENTED = auto()
    ARGUMENT = auto()
    FUNCTION = auto()
    CLASS = auto()
    LOOP = auto()
    WITH = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One place that gives a name a value."""

    kind: Kind
    node: ast.AST
    """The statement, argument, alias or expression that binds."""
    value: ast.expr | None
    """What it is bound to: an argument's default, a loop's iterable, a context manager."""
    end: Position
    """From where on a use in the same scope sees it: line and column in bytes."""


def position(node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias) -> Position:
    """Return where a node starts: line from 1, column in bytes from 0."""
    return node.lineno, node.col_offset


def end(node: ast.expr | ast.stmt | ast.alias) -> Position:
    """Return where a node ends, exclusive."""
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


class Scopes:
    """Lazy symbol tables of one module: a name is looked at when it is asked for."""

    def __init__(self, index: Index, tree: ast.Module) -> None:
        self._index = index
        self._tree = tree
        self._tables: dict[str, dict[ast.AST, list[Binding]]] = {}
        self._owners: dict[ast.AST, ast.AST | None] = {}
        self._statements = self._name_statements()

    def bindings(self, name: ast.Name) -> tuple[Binding, ...]:
        """Return every binding that may reach this use; none for a builtin or unknown name."""
        table = self.table(name.id)
        if len(table) == 1 and len(table.get(self._tree, ())) == 1:
            return tuple(table[self._tree])  # most imports: nothing else has the name
        scope = self.owner(name) if table else None
        own = scope
        while scope is not None:
            if scope in table and (scope is own or not isinstance(scope, ast.ClassDef)):
                found = table[scope]
                return tuple(self._reaching(found, name) if scope is own else found[:_MOST])
            scope = self.owner(scope)
        return ()

    def module_bindings(self, identifier: str) -> list[Binding]:
        """Return the bindings of a module-level name."""
        return self.table(identifier).get(self._tree, [])

    def owner(self, node: ast.AST) -> ast.AST | None:
        """Return the scope that a node's names are looked up in; None for the module itself."""
        if node not in self._owners:
            found = self._find_owner(node)
            self._owners[node] = found
            if not isinstance(node, ast.stmt):
                self._remember(node, found)
        return self._owners[node]

    def _remember(self, node: ast.AST, owner: ast.AST | None) -> None:
        """Keep a scope for the statement around ``node`` too: its other names ask next."""
        while node.__class__ not in _ENDS:
            above = self._index.parents.get(node)
            if above is None:
                return
            node = above
        if node.__class__ in _STATEMENTS:
            self._owners.setdefault(node, owner)

    def table(self, identifier: str) -> dict[ast.AST, list[Binding]]:
        """Return the bindings of an identifier by scope, in order."""
        table = self._tables.get(identifier)
        if table is None:
            table = self._tables[identifier] = self._build(identifier)
        return table

    def _find_owner(self, node: ast.AST) -> ast.AST | None:
        parents, owners = self._index.parents, self._owners
        child, parent = node, parents.get(node)
        while parent is not None:
            if child in owners:
                return owners[child]
            if parent.__class__ in _SCOPES and _holds(parent, child):
                return parent
            child, parent = parent, parents.get(parent)
        return None

    def _build(self, identifier: str) -> dict[ast.AST, list[Binding]]:
        table: dict[ast.AST, list[Binding]] = {}
        for scope, binding in self._find(identifier):
            table.setdefault(scope, []).append(binding)
        for found in table.values():
            found.sort(key=lambda binding: binding.end)
        return table

    def _find(self, identifier: str) -> Iterator[tuple[ast.AST, Binding]]:
        for node in self._index.stores.get(identifier, ()):
            yield self._home(node, identifier), self._store(node)
        for statement in self._statements.get(identifier, ()):
            binding = _declared(statement)
            yield self._home(statement, identifier), binding
        for argument in self._index.arguments.get(identifier, ()):
            function = self._index.parents[self._index.parents[argument]]
            default = default_of(function.args, argument)  # type: ignore[attr-defined] # an arg's
            yield (
                function,
                Binding(Kind.ARGUMENT, argument, default, (0, 0)),
            )

    def _home(self, node: ast.AST, identifier: str) -> ast.AST:
        """Return the scope that a binding belongs to, ``global`` and ``nonlocal`` regarded."""
        scope = self.owner(self._statements_alias(node)) or self._tree
        if self._declares(self._index.globals.get(identifier, ()), scope):
            return self._tree
        while self._declares(self._index.nonlocals.get(identifier, ()), scope):
            scope = self.owner(scope) or self._tree
        return scope

    def _statements_alias(self, node: ast.AST) -> ast.AST:
        return self._index.parents[node] if isinstance(node, ast.alias) else node

    def _declares(self, statements: Iterable[ast.stmt], scope: ast.AST) -> bool:
        return any(self.owner(node) is scope for node in statements)

    def _store(self, node: ast.Name) -> Binding:
        parent = self._index.parents[node]
        if isinstance(parent, _ASSIGNMENTS):
            return Binding(Kind.ASSIGN, parent, parent.value, end(parent))
        if isinstance(parent, ast.AugAssign):
            return Binding(Kind.AUGMENTED, parent, parent.value, end(parent))
        if isinstance(parent, _ITERATIONS):
            # A comprehension's element stands before the name that it uses.
            start = (0, 0) if isinstance(parent, ast.comprehension) else end(node)
            return Binding(Kind.LOOP, parent, parent.iter, start)
        if isinstance(parent, ast.withitem):
            return Binding(Kind.WITH, self._index.parents[parent], parent.context_expr, end(node))
        return self._unpacked(node, parent)

    def _unpacked(self, node: ast.Name, parent: ast.AST) -> Binding:
        """Bind a name in ``a, b = x, y`` to its element; to nothing known otherwise."""
        holder = self._index.parents.get(parent)
        if isinstance(parent, ast.Tuple | ast.List) and isinstance(holder, ast.Assign):
            value, place = holder.value, parent.elts.index(node)
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(parent.elts):
                return Binding(Kind.ASSIGN, holder, value.elts[place], end(holder))
            kind = Kind.OTHER if place else Kind.UNPACKED
            return Binding(kind, holder, value, end(holder))
        return Binding(Kind.OTHER, node, None, end(node))

    def _name_statements(self) -> dict[str, list[Declaration]]:
        """Collect imports, functions and classes by the name they bind."""
        found: dict[str, list[Declaration]] = {}
        for alias in self._index.of(ast.alias):
            bound = alias.asname or alias.name.partition(".")[0]
            found.setdefault(bound, []).append(alias)
        for node in self._index.definitions:
            found.setdefault(node.name, []).append(node)
        return found

    def _reaching(self, found: list[Binding], use: ast.Name) -> list[Binding]:
        """Drop the bindings that a later, certain one hides from ``use``."""
        if len(found) == 1:
            return found
        cut = bisect_right(found, position(use), key=lambda binding: binding.end)
        kept: list[Binding] = []
        for binding in reversed(found[max(0, cut - _MOST) : cut]):
            kept.append(binding)
            if self._certain(binding, use):
                break
        kept += self._around(found[cut : cut + _MOST], use)
        return kept or found[:_MOST]

    def _certain(self, binding: Binding, use: ast.Name) -> bool:
        """Whether the binding's statement runs whenever ``use`` does, as it stands before it."""
        node: ast.AST = self._statements_alias(binding.node)
        while isinstance(node, ast.expr):
            node = self._index.parents[node]
        if not isinstance(node, ast.stmt):
            return False
        block = self._index.block(node)
        child: ast.AST | None = use
        while child is not None:
            if isinstance(child, ast.stmt) and self._index.block(child) is block:
                return True
            child = self._index.parents.get(child)
        return False

    def _around(self, later: list[Binding], use: ast.Name) -> list[Binding]:
        """Keep of the bindings after ``use`` those that an enclosing loop brings back to it."""
        if not later:
            return []
        loops = []
        node = self._index.parents.get(use)
        while node is not None and not isinstance(node, _FUNCTIONS):
            if isinstance(node, _LOOPS):
                loops.append(node)
            node = self._index.parents.get(node)
        return [b for b in later if any(position(o) <= b.end <= end(o) for o in loops)]


def _holds(scope: ast.AST, child: ast.AST) -> bool:
    """Tell whether the names in a child are looked up in ``scope``: not in defaults and bases."""
    if isinstance(scope, _FUNCTIONS):
        return child.__class__ in _STATEMENTS or child is scope.body
    return not isinstance(scope, ast.ClassDef) or child.__class__ in _STATEMENTS


def default_of(arguments: ast.arguments, argument: ast.arg) -> ast.expr | None:
    """Return the default of one argument of a function; None without."""
    positional = [*arguments.posonlyargs, *arguments.args]
    if argument in positional:
        place = positional.index(argument) - len(positional) + len(arguments.defaults)
        return arguments.defaults[place] if place >= 0 else None
    if argument in arguments.kwonlyargs:
        return arguments.kw_defaults[arguments.kwonlyargs.index(argument)]
    return None


def _declared(node: Declaration) -> Binding:
    if isinstance(node, ast.alias):
        return Binding(Kind.IMPORT, node, None, end(node))
    if isinstance(node, ast.ClassDef):
        return Binding(Kind.CLASS, node, None, position(node))
    return Binding(Kind.FUNCTION, node, None, position(node))
