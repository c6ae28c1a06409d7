"""Which constants may reach an expression, within one file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tpu_audit.rules.python import strings
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.possible import UNKNOWN, Possible, Values, Via, union
from tpu_audit.rules.python.scopes import Binding, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tpu_audit.rules.python.module import Module
    from tpu_audit.rules.python.possible import Scalar

_DEPTH = 10
"""Steps from an expression to a constant."""
_ENVIRONMENT = frozenset({"os.environ.get", "os.getenv", "environ.get", "getenv"})
_DEVICE = frozenset({"torch.device"})


class Evaluator:
    """Evaluates expressions of one module, each once."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._rules: dict[type[ast.expr], Callable[[Any], Values]] = {
            ast.Constant: self._constant,
            ast.JoinedStr: self._formatted,
            ast.BinOp: self._operator,
            ast.IfExp: self._arms,
            ast.BoolOp: self._operands,
            ast.NamedExpr: self._walrus,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.Call: self._call,
        }
        self._known: dict[ast.expr, Values] = {}
        self._left = _DEPTH

    def evaluate(self, node: ast.expr) -> Values:
        """Return the constants that may reach ``node``."""
        found = self._known.get(node)
        if found is None:
            if not self._left:
                return UNKNOWN
            self._known[node] = UNKNOWN  # for what refers to itself
            self._left -= 1
            found = self._known[node] = self._compute(node)
            self._left += 1
        return found

    def _compute(self, node: ast.expr) -> Values:
        rule = self._rules.get(type(node))
        return UNKNOWN if rule is None else rule(node)

    def _constant(self, node: ast.Constant) -> Values:
        value = node.value
        if isinstance(value, str | int | float | None):
            return Values((Possible(value, node),))
        return UNKNOWN

    def _formatted(self, node: ast.JoinedStr) -> Values:
        return strings.formatted(node, self.evaluate)

    def _operator(self, node: ast.BinOp) -> Values:
        if isinstance(node.op, ast.Add):
            return strings.added(node, self.evaluate)
        if isinstance(node.op, ast.Mod):
            return strings.percent(node, self.evaluate)
        return UNKNOWN

    def _arms(self, node: ast.IfExp) -> Values:
        return union(self.evaluate(node.body), self.evaluate(node.orelse))

    def _operands(self, node: ast.BoolOp) -> Values:
        return union(*map(self.evaluate, node.values))

    def _walrus(self, node: ast.NamedExpr) -> Values:
        return self.evaluate(node.value)

    def _name(self, node: ast.Name) -> Values:
        bindings = self._module.scopes.bindings(node)
        return union(*map(self.bound, bindings)) if bindings else UNKNOWN

    def bound(self, binding: Binding) -> Values:
        """Return the constants that a binding may give its name."""
        if isinstance(binding.node, ast.arg):
            return self._argument(binding.node, binding.value)
        if binding.kind is Kind.ASSIGN and binding.value is not None:
            return self.evaluate(binding.value).through(Via.VARIABLE)
        if binding.kind is Kind.LOOP and binding.value is not None:
            items = self._module.elements(binding.value)
            return union(*map(self.evaluate, items)).through(Via.VARIABLE) if items else UNKNOWN
        return UNKNOWN

    def _argument(self, argument: ast.arg, default: ast.expr | None) -> Values:
        """Return a parameter's default, its option's, and what calls in this file pass."""
        found = [UNKNOWN]
        if default is not None:
            found.append(self._default(default))
        function = self._module.index.parents[self._module.index.parents[argument]]
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            passed = self._module.calls.passed(function, argument)
            found += [self.evaluate(value).through(Via.ARGUMENT) for value in passed]
            if function.decorator_list:
                options = self._module.options.defaults.get(argument.arg, [])
                found += [self.evaluate(value).through(Via.OPTION) for value in options]
        return union(*found)

    def _default(self, default: ast.expr) -> Values:
        """Evaluate a default; ``typer.Option("cuda")`` and ``Field("cuda")`` hold theirs."""
        if isinstance(default, ast.Call) and default.args:
            return self.evaluate(default.args[0]).through(Via.OPTION)
        return self.evaluate(default).through(Via.DEFAULT)

    def _attribute(self, node: ast.Attribute) -> Values:
        stored, via = self._stored(node)
        if stored:
            return self._any(stored, via)
        if node.attr == "type":
            return self._device_type(node)
        # An enum's member has its value.
        is_member = node.attr == "value" and isinstance(node.value, ast.Attribute)
        return self.evaluate(node.value) if is_member else UNKNOWN

    def _stored(self, node: ast.Attribute) -> tuple[Sequence[ast.expr], Via]:
        """Return what may be in an attribute, and how it comes there."""
        module, base = self._module, node.value
        name = base.id if isinstance(base, ast.Name) else ""
        if name in {"self", "cls"}:
            return module.classes.stored(node), Via.ATTRIBUTE
        if options := module.options.of(node):
            return options, Via.OPTION
        if assigned := module.classes.stored_in(name, node.attr) if name else ():
            return assigned, Via.ATTRIBUTE
        # Through the class itself a field is a constant; an object may have another.
        via = Via.ATTRIBUTE if name in module.classes.by_name else Via.FIELD
        return module.classes.fields(node), via

    def _device_type(self, node: ast.Attribute) -> Values:
        """Evaluate ``device.type``: the device's name without its index."""
        return self.evaluate(node.value).map(
            lambda value: value.partition(":")[0] if isinstance(value, str) else value
        )

    def _any(self, nodes: Sequence[ast.expr], via: Via) -> Values:
        found = [self._field(node).through(via) for node in nodes]
        return union(*found, UNKNOWN)

    def _field(self, node: ast.expr) -> Values:
        """Evaluate a class attribute; ``field(default="cuda")`` holds its own."""
        if isinstance(node, ast.Call):
            default = keyword(node, "default")
            if default is not None:
                return self.evaluate(default)
            factory = keyword(node, "default_factory")
            if isinstance(factory, ast.Lambda):
                return self.evaluate(factory.body)
            if getattr(node.func, "id", "") == "Field" and node.args:
                return self.evaluate(node.args[0])
        return self.evaluate(node)

    def _subscript(self, node: ast.Subscript) -> Values:
        if isinstance(node.value, ast.List | ast.Tuple):
            return self._item(node.value, node.slice)
        keys = self.evaluate(node.slice)
        return self._looked_up(node.value, keys)

    def _item(self, items: ast.List | ast.Tuple, place: ast.expr) -> Values:
        """Evaluate ``["cpu", "cuda"][i]``: the item, or any where the place is not known."""
        index = getattr(place, "value", None)
        if isinstance(index, int) and 0 <= index < len(items.elts):
            return self.evaluate(items.elts[index])
        return union(*map(self.evaluate, items.elts))

    def _looked_up(self, holder: ast.expr, keys: Values) -> Values:
        found = self._module.dicts.entries(holder, {possible.value for possible in keys})
        return union(*(self.evaluate(value).through(Via.CONFIG) for value in found), UNKNOWN)

    def _call(self, node: ast.Call) -> Values:
        callee = node.func
        word = callee.id if isinstance(callee, ast.Name) else getattr(callee, "attr", "")
        if word == "format" and isinstance(callee, ast.Attribute):
            return strings.braces(node, callee.value, self.evaluate)
        if word == "join" and isinstance(callee, ast.Attribute) and len(node.args) == 1:
            return strings.joined(node, callee.value, node.args[0], self.evaluate)
        if word in {"str", "lower", "strip"}:
            return self._unchanged(node)
        if word in {"get", "getenv", "pop", "setdefault", "getattr"}:
            return self._with_fallback(node, word)
        if word == "device" and self._module.qualified(callee) & _DEVICE:
            return self._device(node)
        return self._returned(callee) if isinstance(callee, ast.Name) else UNKNOWN

    def _unchanged(self, node: ast.Call) -> Values:
        if isinstance(node.func, ast.Attribute):
            found = self.evaluate(node.func.value) if not node.args else UNKNOWN
            return found.map(_lower) if node.func.attr == "lower" else found
        return self.evaluate(node.args[0]) if node.args else UNKNOWN

    def _with_fallback(self, node: ast.Call, word: str) -> Values:
        """Evaluate ``os.environ.get(key, fallback)``, ``d.get(key, fallback)`` and their like."""
        place = 2 if word == "getattr" else 1
        given = [node.args[place]] if len(node.args) > place else []
        fallback = [*given, *filter(None, [keyword(node, "default", "fallback")])]
        via = Via.ENVIRONMENT if self._module.qualified(node.func) & _ENVIRONMENT else Via.CONFIG
        found = [self.evaluate(value).through(via) for value in fallback]
        if isinstance(node.func, ast.Attribute) and node.args and via is Via.CONFIG:
            found.append(self._looked_up(node.func.value, self.evaluate(node.args[0])))
        return union(*found, UNKNOWN)

    def _device(self, node: ast.Call) -> Values:
        """Evaluate ``torch.device(...)`` to the string that it is made of."""
        kind = keyword(node, "type", "device")
        argument = node.args[0] if node.args else kind
        return self.evaluate(argument) if argument is not None else UNKNOWN

    def _returned(self, callee: ast.Name) -> Values:
        bindings = self._module.scopes.bindings(callee)
        functions = [b.node for b in bindings if isinstance(b.node, ast.FunctionDef)]
        if len(functions) != 1:
            return UNKNOWN
        results = self._module.calls.returned(functions[0])
        return union(*(self.evaluate(value).through(Via.RETURNED) for value in results))


def _lower(value: Scalar) -> Scalar:
    return value.lower() if isinstance(value, str) else value
