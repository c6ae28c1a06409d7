"""One Python file and all that rules may ask about it; each answer is computed once, when asked."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

from tpu_audit.rules.python.backends import Backends
from tpu_audit.rules.python.calls import Calls
from tpu_audit.rules.python.choices import DeviceChoice, find_choices
from tpu_audit.rules.python.classes import Classes
from tpu_audit.rules.python.context import Context, Contexts
from tpu_audit.rules.python.devices import DeviceSink, find_sinks
from tpu_audit.rules.python.dicts import Dicts
from tpu_audit.rules.python.imports import find_imports
from tpu_audit.rules.python.libraries import Libraries
from tpu_audit.rules.python.names import Names
from tpu_audit.rules.python.options import Options
from tpu_audit.rules.python.parsed_file import ParsedFile
from tpu_audit.rules.python.reach import Reach, Reachability
from tpu_audit.rules.python.scopes import Scopes
from tpu_audit.rules.python.tests import TestMarks
from tpu_audit.rules.python.truth import Truths
from tpu_audit.rules.python.uses import Uses
from tpu_audit.rules.python.values import Evaluator

if TYPE_CHECKING:
    from tpu_audit.rules.python.possible import Values

_PARTS = frozenset({"split", "partition", "lower", "strip"})
"""Methods that leave a device's type in its text."""
_DEVICE_WORD = re.compile(r"(?:^|_)(?:device|dev)(?:_|$|type|name|str)", re.IGNORECASE)


class Module(ParsedFile):
    """A parsed Python file. Raises ``SyntaxError`` or ``ValueError`` as ``ast.parse`` does."""

    @cached_property
    def scopes(self) -> Scopes:
        """Bindings of names."""
        return Scopes(self.index, self.tree)

    @cached_property
    def classes(self) -> Classes:
        """Attributes of the file's classes."""
        return Classes(self)

    @cached_property
    def calls(self) -> Calls:
        """Calls of the file's functions, and what they return."""
        return Calls(self)

    @cached_property
    def options(self) -> Options:
        """Command line options."""
        return Options(self)

    @cached_property
    def dicts(self) -> Dicts:
        """Literal dicts."""
        return Dicts(self)

    @cached_property
    def libraries(self) -> Libraries:
        """Imported packages."""
        return Libraries(self)

    @cached_property
    def uses(self) -> Uses:
        """Uses of dotted names."""
        return Uses(self)

    @cached_property
    def backends(self) -> Backends:
        """Code of backends that are CUDA's alone."""
        return Backends(self)

    @cached_property
    def tests(self) -> TestMarks:
        """Decorators that skip tests."""
        return TestMarks(self)

    @cached_property
    def sinks(self) -> tuple[DeviceSink, ...]:
        """Places that take a device."""
        return find_sinks(self)

    @cached_property
    def choices(self) -> tuple[DeviceChoice, ...]:
        """Choices of a device by whether CUDA is available."""
        return tuple(find_choices(self))

    @cached_property
    def strings(self) -> tuple[ast.Constant, ...]:
        """Strings that are not statements."""
        nodes = self.index.of(ast.Constant)
        return tuple(n for n in nodes if n.value.__class__ is str and not self.is_docstring(n))

    @cached_property
    def methods_by_text(self) -> dict[str, list[tuple[ast.Call, ast.expr]]]:
        """Calls ``getattr(receiver, "name")(...)`` with their receivers, by the name."""
        found: dict[str, list[tuple[ast.Call, ast.expr]]] = {}
        for name in self.index.names.get("getattr", ()):
            inner = self.parent(name)
            outer = self.parent(inner) if inner is not None else None
            if not isinstance(inner, ast.Call) or not isinstance(outer, ast.Call):
                continue
            if outer.func is inner and len(inner.args) > 1:
                for text in self.value(inner.args[1]).strings():
                    found.setdefault(text, []).append((outer, inner.args[0]))
        return found

    @cached_property
    def imported(self) -> tuple[tuple[ast.stmt | ast.Call, tuple[str, ...]], ...]:
        """Imports with the packages and the names that they take; literal dynamic ones too."""
        return tuple(find_imports(self))

    @cached_property
    def is_script(self) -> bool:
        """Whether the file is run rather than imported: it has ``if __name__ == "__main__"``."""
        return any(
            isinstance(node, ast.If)
            and isinstance(node.test, ast.Compare)
            and getattr(node.test.left, "id", "") == "__name__"
            for node in self.tree.body
        )

    @cached_property
    def _names(self) -> Names:
        return Names(self)

    @cached_property
    def _evaluator(self) -> Evaluator:
        return Evaluator(self)

    @cached_property
    def _truths(self) -> Truths:
        return Truths(self)

    @cached_property
    def _reachability(self) -> Reachability:
        return Reachability(self)

    @cached_property
    def _contexts(self) -> Contexts:
        return Contexts(self)

    def qualified(self, node: ast.expr) -> frozenset[str]:
        """Return all dotted names that ``node`` may mean: ``torch.cuda.empty_cache``."""
        return self._names.qualified(node)

    def is_named(self, node: ast.expr, *names: str) -> bool:
        """Tell whether ``node`` may mean one of ``names``; ``torch.cuda.*`` for any below."""
        return any(matches(found, name) for found in self.qualified(node) for name in names)

    def is_imported(self, node: ast.expr) -> bool:
        """Tell whether ``node`` is an imported package or module, or something in one."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and any(
            isinstance(binding.node, ast.alias) for binding in self.scopes.bindings(node)
        )

    def value(self, node: ast.expr) -> Values:
        """Return the constants that may reach ``node``."""
        return self._evaluator.evaluate(node)

    def truth(self, node: ast.expr) -> bool | None:
        """Return what a test for devices is on a TPU; None where that is not known."""
        return self._truths.of(node)

    def is_one_of(self, device: ast.expr, kinds: list[ast.expr]) -> bool | None:
        """Return whether a device is one of ``kinds`` on a TPU; None where that is not known."""
        return self._truths.membership(device, kinds, positive=True)

    def reach(self, node: ast.AST) -> Reach:
        """Return whether ``node`` runs on a TPU."""
        return self._reachability.of(node)

    def context(self, node: ast.AST) -> Context:
        """Return where ``node`` stands: test, loop, hot function, start-up."""
        return self._contexts.of(node)

    def elements(self, node: ast.expr) -> list[ast.expr]:
        """Return the items of a literal list, tuple or set, named or wrapped in ``frozenset``."""
        return self._elements(node, 6)

    def _elements(self, node: ast.expr, depth: int) -> list[ast.expr]:
        if not depth:
            return []
        found: list[ast.expr] = []
        left, seen = [node], {node}
        while left:
            part = left.pop(0)
            if isinstance(part, ast.Tuple | ast.List | ast.Set):
                found += part.elts
            # ``names = names + [name]`` refers to itself.
            parts = [p for p in self._parts(part) if p is not None and p not in seen]
            seen.update(parts)
            left = parts + left
        return found

    def _parts(self, node: ast.expr) -> list[ast.expr | None]:
        """Return the expressions whose items an expression that is no literal has."""
        if isinstance(node, ast.BinOp):
            return [node.left, node.right]
        if isinstance(node, ast.Call) and len(node.args) == 1:
            callee = getattr(node.func, "id", "")
            return [*node.args] if callee in {"frozenset", "set", "tuple"} else []
        if isinstance(node, ast.Name):
            return [binding.value for binding in self.scopes.bindings(node)]
        return [*self.classes.stored(node)] if isinstance(node, ast.Attribute) else []

    def is_device(self, node: ast.expr) -> bool:
        """Tell whether an expression holds a device or its type, judging by its spelling."""
        if isinstance(node, ast.Name):
            return _DEVICE_WORD.search(node.id) is not None
        if isinstance(node, ast.Subscript) and getattr(node.slice, "value", None) == 0:
            return self.is_device(node.value)  # device.split(":")[0]
        if isinstance(node, ast.Call):
            part = isinstance(node.func, ast.Attribute) and node.func.attr in _PARTS
            if part and isinstance(node.func, ast.Attribute):
                return self.is_device(node.func.value)
            is_text = getattr(node.func, "id", "") == "str" and node.args
            return bool(is_text) and self.is_device(node.args[0])
        if not isinstance(node, ast.Attribute):
            return False
        return node.attr == "type" or _DEVICE_WORD.search(node.attr) is not None

    def arms_equal(self, node: ast.If | ast.IfExp) -> bool:
        """Tell whether both arms of a choice say the same: the test decides nothing."""
        if isinstance(node, ast.IfExp):
            return ast.dump(node.body) == ast.dump(node.orelse)
        arms = (node.body, node.orelse)
        body, orelse = ([ast.dump(statement) for statement in arm] for arm in arms)
        return body == orelse


def matches(name: str, pattern: str) -> bool:
    """Tell whether a dotted name is ``pattern``, or below it where it ends in ``.*``."""
    return name.startswith(pattern[:-1]) if pattern.endswith(".*") else name == pattern
