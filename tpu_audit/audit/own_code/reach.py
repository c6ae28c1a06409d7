"""Which lines of a model's own code run when it is loaded or its forward is called.

Told by names: a function is reached when code that is reached says its name, whatever it is the
name of. So too much is reached rather than too little, and what is not reached is not called.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_CALLED = frozenset(
    {
        *("forward", "from_pretrained", "_from_config", "from_config", "from_dict"),
        *("_init_weights", "init_weights", "reset_parameters", "post_init", "tie_weights"),
        *("setup", "build", "preprocess", "validate_config", "convert_to_native_format"),
    }
)
"""Methods that libraries call by themselves when they load or run an object."""
_WORD = re.compile(r"[^\W\d]\w*")
_UNREAD = frozenset({"annotation", "returns"})
"""Fields of the tree whose names are not used when the code runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Unit:
    """A function, a method, the statements of a class, or those of a module."""

    name: str
    """Empty for a module, which always runs."""
    owner: str | None = None
    """Class of a method."""
    says: frozenset[str]
    """Names that it uses when it runs."""
    path: str = ""
    lines: range = range(0)
    """Lines that only run when a function is called; none for classes and modules."""


@dataclass(slots=True)
class Reach:
    """The lines of some files that nothing calls."""

    idle: dict[str, list[range]] = field(default_factory=dict)

    def covers(self, path: str, line: int) -> bool:
        """Whether loading the model or its forward may run the line."""
        return not any(line in lines for lines in self.idle.get(path, ()))


def reach_of(texts: Mapping[str, str], classes: Iterable[str]) -> Reach:
    """Return what is reached in files (path -> text) from ``classes`` and from their import.

    A file that cannot be parsed is taken to run as a whole, and to use each word in it.
    """
    units = [unit for path, text in texts.items() for unit in _units_of(path, text)]
    names = _names_reached(units, set(classes))
    reach = Reach()
    for unit in units:
        if unit.lines and not _runs(unit, names):
            reach.idle.setdefault(unit.path, []).append(unit.lines)
    return reach


def _names_reached(units: Iterable[_Unit], names: set[str]) -> set[str]:
    waiting = list(units)
    while True:
        running = [unit for unit in waiting if _runs(unit, names)]
        waiting = [unit for unit in waiting if not _runs(unit, names)]
        if not running:
            return names
        names.update(*(unit.says for unit in running))


def _runs(unit: _Unit, names: set[str]) -> bool:
    if unit.owner is None:
        return not unit.name or unit.name in names
    special = unit.name in _CALLED or (unit.name.startswith("__") and unit.name.endswith("__"))
    return unit.owner in names and (special or unit.name in names)


def _units_of(path: str, text: str) -> list[_Unit]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        return list(_Reader(path).module(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [_Unit(name="", says=frozenset(_WORD.findall(text)))]


class _Reader:
    """Splits the tree of one file into units."""

    def __init__(self, path: str) -> None:
        self._path = path

    def module(self, tree: ast.Module) -> Iterator[_Unit]:
        """Yield the units of a module."""
        yield from self._block(tree.body, name="", owner=None)

    def _block(self, body: list[ast.stmt], *, name: str, owner: str | None) -> Iterator[_Unit]:
        """Yield the units defined in a module's or a class's statements, and these themselves."""
        plain: list[ast.AST] = []
        for statement in _flat(body):
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    plain += [*statement.decorator_list, statement.args]
                    yield self._function(statement, owner)
                case ast.ClassDef():
                    header = [*statement.bases, *statement.keywords, *statement.decorator_list]
                    yield _Unit(name=statement.name, says=_names(header))
                    yield from self._block(
                        statement.body, name=statement.name, owner=statement.name
                    )
                case ast.If() if _is_main(statement):
                    yield self._never(statement)
                case _:
                    plain.append(statement)
        yield _Unit(name=name, says=_names(plain))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str | None) -> _Unit:
        lines = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
        says = _names(node.body)
        return _Unit(name=node.name, owner=owner, says=says, path=self._path, lines=lines)

    def _never(self, node: ast.If) -> _Unit:
        """Return what runs only when the file is run as a program: no name is a space."""
        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        return _Unit(name=" ", says=frozenset(), path=self._path, lines=lines)


_COMPOUND = (ast.If, ast.Try, ast.TryStar, ast.With, ast.For, ast.While)
_BLOCKS = ("body", "orelse", "finalbody", "handlers")


def _flat(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements; of arms, tries, loops and withs their heads and what stands in them."""
    for statement in body:
        handler = isinstance(statement, ast.ExceptHandler)
        if not (isinstance(statement, _COMPOUND) or handler) or _is_main(statement):
            yield statement
            continue
        for name, value in ast.iter_fields(statement):
            rows = value if isinstance(value, list) else [value]
            nodes = [row for row in rows if isinstance(row, ast.AST)]
            yield from _flat(nodes) if name in _BLOCKS else nodes


def _is_main(node: ast.AST) -> bool:
    """Whether this is ``if __name__ == "__main__":``."""
    match node:
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
    return False


def _names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names, attributes and words in strings of some nodes, without annotations."""
    found = set[str]()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                found.add(name)
            case ast.Constant(value=str(text)) if text.isidentifier():
                found.add(text)
        for name, value in ast.iter_fields(node):
            if name not in _UNREAD:
                rows = value if isinstance(value, list) else [value]
                waiting += (row for row in rows if isinstance(row, ast.AST))
    return frozenset(found)
