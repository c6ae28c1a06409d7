"""Which expressions hold tensors on the device: by types, calls, names and how they are used."""

from __future__ import annotations

import ast
import builtins
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from tpu_audit.rules.python import tensor_names as known
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.scopes import Binding, Kind
from tpu_audit.rules.python.walk import children

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tpu_audit.rules.python.module import Module

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BUILTINS = frozenset(dir(builtins))
_NUMBERS = frozenset({"float", "int"})
"""In a union with a tensor: callers pass what they have read already, as a rule."""
_IDENTITY = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_MOVES = frozenset({"to", "cuda", "tpu", "xpu"})
_DEPTH = 25
"""Nested questions: more than expressions have, few enough for generated monsters."""


class Holds(Enum):
    """What an expression holds."""

    TENSOR = auto()
    """A tensor, on the accelerator as far as the file tells."""
    LIKELY = auto()
    """That, judging by how it is named or used."""
    HOST = auto()
    """A tensor in the host's memory: reading it waits for nothing."""
    OTHER = auto()
    """No tensor: a number, a NumPy array, a module, a shape."""
    UNKNOWN = auto()

    @property
    def on_host(self) -> bool:
        """Whether it is a tensor in the host's memory."""
        return self is Holds.HOST


_DEVICE = (Holds.TENSOR, Holds.LIKELY)
_ORDER = (Holds.TENSOR, Holds.LIKELY, Holds.UNKNOWN, Holds.HOST, Holds.OTHER)


def _most(found: Iterable[Holds]) -> Holds:
    """Return the one that matters most among what may reach a place."""
    return min(found, key=_ORDER.index, default=Holds.UNKNOWN)


class Tensors:
    """Judges expressions of one module, each once."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[ast.expr, Holds] = {}
        self._evident: dict[str, frozenset[ast.AST | None]] = {}
        self._left = _DEPTH
        self._rules: dict[type[ast.expr], Callable[[Any], Holds]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.Call: self._call,
            ast.Compare: self._compare,
            ast.BinOp: self._operator,
            ast.UnaryOp: self._unary,
            ast.BoolOp: lambda node: _most(map(self.of, node.values)),
            ast.IfExp: lambda node: _most((self.of(node.body), self.of(node.orelse))),
            ast.NamedExpr: lambda node: self.of(node.value),
            ast.Await: lambda node: self.of(node.value),
            ast.Starred: lambda node: self.of(node.value),
        }

    def of(self, node: ast.expr) -> Holds:
        """Return what ``node`` holds."""
        found = self._known.get(node)
        if found is None:
            if not self._left:
                return Holds.UNKNOWN
            self._known[node] = Holds.UNKNOWN  # for what refers to itself
            self._left -= 1
            rule = self._rules.get(type(node))
            found = self._known[node] = Holds.OTHER if rule is None else rule(node)
            self._left += 1
        return found

    def is_tensor(self, node: ast.expr) -> bool:
        """Tell whether ``node`` certainly holds a tensor on the device."""
        return self.of(node) is Holds.TENSOR

    def may_be(self, node: ast.expr) -> bool:
        """Tell whether ``node`` holds a tensor on the device, or does so in all likelihood."""
        return self.of(node) in _DEVICE

    def _compare(self, node: ast.Compare) -> Holds:
        if any(isinstance(op, _IDENTITY) for op in node.ops):
            return Holds.OTHER
        sides = [node.left, *node.comparators]
        if any(isinstance(s, ast.Constant) and isinstance(s.value, str | None) for s in sides):
            return Holds.OTHER
        return self._joined(sides)

    def _joined(self, sides: list[ast.expr]) -> Holds:
        """Judge what operands make: what meets a tensor of the host's is a number or of it too."""
        held = {self.of(side) for side in sides}
        return Holds.HOST if held == {Holds.HOST, Holds.UNKNOWN} else _most(held)

    def _operator(self, node: ast.BinOp) -> Holds:
        if isinstance(node.left, ast.Constant | ast.JoinedStr | ast.List):
            text = isinstance(node.left, ast.JoinedStr | ast.List)
            if text or isinstance(node.left.value, str):  # type: ignore[union-attr] # a Constant
                return Holds.OTHER
        return self._joined([node.left, node.right])

    def _unary(self, node: ast.UnaryOp) -> Holds:
        return Holds.OTHER if isinstance(node.op, ast.Not) else self.of(node.operand)

    def _subscript(self, node: ast.Subscript) -> Holds:
        held = self.of(node.value)
        return held if held is not Holds.OTHER else Holds.UNKNOWN

    def _attribute(self, node: ast.Attribute) -> Holds:
        if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
            return self._own(node)
        base = self.of(node.value)
        if base in _DEVICE or base is Holds.HOST:
            if node.attr in known.TENSOR_ATTRIBUTES | {"values", "indices"}:
                return base
            return Holds.LIKELY if node.attr in known.OUTPUTS else Holds.OTHER
        if node.attr in known.OUTPUTS and not self._module.is_imported(node):
            return Holds.LIKELY if node.attr in {"loss", "logits"} else Holds.UNKNOWN
        return Holds.UNKNOWN

    def _own(self, node: ast.Attribute) -> Holds:
        """Judge ``self.x`` by what the class stores or registers under that name."""
        stored = self._module.classes.stored(node)
        if any(self._is_parameter(value) for value in stored) or self._is_buffer(node):
            return Holds.TENSOR
        if any(self._brings_home(value, node.attr) for value in stored):
            return Holds.HOST
        return _most(map(self.of, stored))

    def _brings_home(self, value: ast.expr, name: str) -> bool:
        """Tell ``self.x = self.x.to("cpu")``, which keeps what was computed on the host."""
        callee = value.func if isinstance(value, ast.Call) else None
        if not isinstance(callee, ast.Attribute) or getattr(callee.value, "attr", "") != name:
            return False
        moves = callee.attr == "to" and isinstance(value, ast.Call) and bool(value.args)
        return callee.attr == "cpu" or (moves and self.is_host(value.args[0]))  # type: ignore[attr-defined] # a Call

    def _is_parameter(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and self._module.is_named(
            value.func, "torch.nn.Parameter", "torch.nn.Buffer", "torch.nn.parameter.Parameter"
        )

    def _is_buffer(self, node: ast.Attribute) -> bool:
        owner = self._module.classes.enclosing(node)
        return any(
            isinstance(call, ast.Call)
            and bool(call.args)
            and getattr(call.args[0], "value", None) == node.attr
            and self._module.classes.enclosing(call) is owner
            for attribute in self._module.index.attributes.get("register_buffer", ())
            for call in (self._module.parent(attribute),)
        )

    def _name(self, node: ast.Name) -> Holds:
        bindings = self._module.scopes.bindings(node)
        held = _most(map(self._bound, bindings))
        if held is Holds.UNKNOWN and bindings and self._used_as_tensor(node):
            return Holds.TENSOR if self._goes_backward(node) else Holds.LIKELY
        return held

    def _bound(self, binding: Binding) -> Holds:
        if isinstance(binding.node, ast.arg):
            return self._argument(binding.node, binding.value)
        if binding.kind in {Kind.IMPORT, Kind.FUNCTION, Kind.CLASS}:
            return Holds.OTHER
        if isinstance(binding.node, ast.Name):
            return self._looped(binding.node)
        if binding.value is None or binding.kind is Kind.WITH:
            return Holds.UNKNOWN
        places = self._returned_at(binding)
        return _most(map(self.of, places)) if places else self._given(binding.kind, binding.value)

    def _returned_at(self, binding: Binding) -> list[ast.expr]:
        """Return what a function of this file gives one of several names: ``a, n = self.f()``."""
        target = self._module.parent(binding.node)
        if not isinstance(target, ast.Tuple) or not isinstance(binding.value, ast.Call):
            return []
        name = str(getattr(binding.value.func, "attr", getattr(binding.value.func, "id", "")))
        named = (f for f in self._module.index.definitions if f.name == name)
        found = [f for f in named if isinstance(f, _FUNCTIONS)]
        results = self._module.calls.returned(found[0]) if len(found) == 1 else []
        at = [getattr(n, "id", "") for n in target.elts].index(getattr(binding.node, "id", ""))
        many = len(target.elts)
        tuples = [r.elts for r in results if isinstance(r, ast.Tuple) and len(r.elts) == many]
        return [elements[at] for elements in tuples]

    def _given(self, kind: Kind, value: ast.expr) -> Holds:
        """Judge what an assignment or a loop gives a name."""
        if kind is Kind.LOOP:
            return self._element(value)
        return self._unpacked(value) if kind in {Kind.UNPACKED, Kind.OTHER} else self.of(value)

    def _unpacked(self, value: ast.expr) -> Holds:
        """Judge one of several names that share what a call returns."""
        if isinstance(value, ast.Attribute):
            return Holds.OTHER if value.attr == "shape" else Holds.UNKNOWN
        return self.of(value)

    def _looped(self, name: ast.Name) -> Holds:
        """Judge a name in ``for i, t in enumerate(x)`` and ``for a, b in zip(x, y)``."""
        target = self._module.parent(name)
        loop = None if target is None else self._module.parent(target)
        if not isinstance(target, ast.Tuple) or not isinstance(loop, ast.For | ast.comprehension):
            return Holds.UNKNOWN
        call, place = loop.iter, target.elts.index(name)
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return Holds.UNKNOWN
        if call.func.id == "zip" and place < len(call.args):
            return self._element(call.args[place])
        if call.func.id == "enumerate" and call.args:
            return self._element(call.args[0]) if place else Holds.OTHER
        return Holds.UNKNOWN

    def _element(self, iterable: ast.expr) -> Holds:
        """Judge what iterating over an expression yields: rows of a tensor are tensors."""
        if isinstance(iterable, ast.List | ast.Tuple):
            return _most(map(self.of, iterable.elts))
        if isinstance(iterable, ast.Call) and getattr(iterable.func, "id", "") == "range":
            return Holds.OTHER
        held = self.of(iterable)
        return Holds.UNKNOWN if held is Holds.OTHER else held

    def _argument(self, argument: ast.arg, default: ast.expr | None) -> Holds:
        if argument.annotation is not None:
            return self._annotated(argument.annotation)
        if isinstance(default, ast.Constant) and default.value is not None:
            return Holds.OTHER
        function = self._module.index.parents[self._module.index.parents[argument]]
        if not isinstance(function, _FUNCTIONS):
            return Holds.UNKNOWN
        if function.name == "forward" and (
            self._is_input(argument, function) or self._is_reduced(argument, function)
        ):
            return Holds.LIKELY
        passed = self._module.calls.passed(function, argument)
        held = _most(map(self.of, passed)) if passed else Holds.UNKNOWN
        return Holds.LIKELY if held in _DEVICE else Holds.UNKNOWN

    def _is_input(
        self, argument: ast.arg, function: ast.FunctionDef | ast.AsyncFunctionDef
    ) -> bool:
        """Tell whether a parameter of ``forward`` is a tensor: a module's first, or by name."""
        if argument.arg in known.INPUTS:
            return True
        owner = self._module.parent(function)
        bases = owner.bases if isinstance(owner, ast.ClassDef) else []
        first = function.args.args[1:2] == [argument]
        return first and any(self._module.is_named(base, "torch.nn.Module") for base in bases)

    def _is_reduced(
        self, argument: ast.arg, function: ast.FunctionDef | ast.AsyncFunctionDef
    ) -> bool:
        """Tell whether ``forward`` of a module calls ``x.max()`` and its like of a parameter."""
        owner = self._module.parent(function)
        if not isinstance(owner, ast.ClassDef) or not owner.bases:
            return False
        return any(
            isinstance(parent, ast.Attribute)
            and parent.attr in known.REDUCTIONS
            and self._module.scopes.owner(use) is function
            for use in self._module.index.names.get(argument.arg, ())
            for parent in (self._module.parent(use),)
        )

    def _annotated(self, hint: ast.expr) -> Holds:
        """Judge a type: ``Tensor``, ``Tensor | None``, ``Optional[Tensor]``, jaxtyping's."""
        if isinstance(hint, ast.Constant):
            if not isinstance(hint.value, str):
                return Holds.OTHER
            tensor = hint.value.replace("Optional[", "").rstrip("]").endswith("Tensor")
            return Holds.TENSOR if tensor else Holds.UNKNOWN
        if isinstance(hint, ast.BinOp):
            number = any(getattr(part, "id", "") in _NUMBERS for part in children(hint))
            both = (self._annotated(hint.left), self._annotated(hint.right))
            return Holds.UNKNOWN if number else _most(both)
        if isinstance(hint, ast.Subscript):
            return self._annotated_generic(hint)
        word = getattr(hint, "attr", getattr(hint, "id", ""))
        if word.endswith("Tensor") and not word.startswith("Fake"):
            return Holds.TENSOR
        return Holds.OTHER if word in {*_BUILTINS, "ndarray", "Path"} else Holds.UNKNOWN

    def _annotated_generic(self, hint: ast.Subscript) -> Holds:
        word = getattr(hint.value, "attr", getattr(hint.value, "id", ""))
        parts = hint.slice.elts if isinstance(hint.slice, ast.Tuple) else [hint.slice]
        if word == "Optional":
            return self._annotated(parts[0])
        if word == "Union":
            if any(getattr(part, "id", "") in _NUMBERS for part in parts):
                return Holds.UNKNOWN
            held = _most(map(self._annotated, parts))
            others = [p for p in parts if getattr(p, "value", "") is not None]
            return held if len(others) == 1 or held not in _DEVICE else Holds.LIKELY
        if word in {"Float", "Int", "Bool", "Shaped", "Integer", "Num", "Annotated"}:
            return self._annotated(parts[0])
        return Holds.UNKNOWN

    def _used_as_tensor(self, name: ast.Name) -> bool:
        """Tell whether the same scope uses attributes of the name that only tensors have."""
        if name.id not in self._evident:
            self._evident[name.id] = self._evident_in(name.id)
        scopes = self._evident[name.id]
        return bool(scopes) and self._module.scopes.owner(name) in scopes

    def _evident_in(self, identifier: str) -> frozenset[ast.AST | None]:
        """Return the scopes that use attributes of a name that only tensors have."""
        if known.MODEL.search(identifier):
            return frozenset()
        parent, owner = self._module.parent, self._module.scopes.owner
        return frozenset(
            owner(use)
            for use in self._module.index.names.get(identifier, ())
            if getattr(parent(use), "attr", "") in known.TENSOR_EVIDENCE
        )

    def _goes_backward(self, name: ast.Name) -> bool:
        """Tell whether the same scope calls ``name.backward()``: nothing else has it bare."""
        for use in self._module.index.attributes.get("backward", ()):
            call = self._module.parent(use)
            bare = isinstance(call, ast.Call) and call.func is use and not call.args
            if bare and isinstance(use.value, ast.Name) and use.value.id == name.id:
                return self._module.scopes.owner(use.value) is self._module.scopes.owner(name)
        return False

    def _call(self, node: ast.Call) -> Holds:
        names = self._module.qualified(node.func)
        torch = [name for name in names if name.startswith("torch.")]
        if torch:
            return self._torch_call(node, min(torch))
        if any(name.startswith(("numpy.", "math.", "random.", "time.")) for name in names):
            return Holds.OTHER
        if any(name.startswith("einops.") for name in names) and node.args:
            return self._computed(node)
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func)
        if getattr(node.func, "id", "") == "self":
            return Holds.LIKELY
        return self._function(node, node.func) if isinstance(node.func, ast.Name) else Holds.UNKNOWN

    def _torch_call(self, node: ast.Call, name: str) -> Holds:
        if name in known.FACTORIES:
            return self._made(node)
        if name.startswith("torch.nn.Parameter"):
            return Holds.TENSOR
        if known.NOT_TENSORS.match(name):
            return Holds.OTHER
        return self._computed(node)

    def _made(self, node: ast.Call) -> Holds:
        """Judge a new tensor: where ``device=`` says, else on the host."""
        device = keyword(node, "device")
        if device is None or self.is_host(device):
            return Holds.HOST
        return Holds.TENSOR

    def is_host(self, device: ast.expr) -> bool:
        """Tell whether a device is certainly the host's."""
        if isinstance(device, ast.Attribute) and device.attr == "device":
            return self.of(device.value) is Holds.HOST
        values = self._module.value(device)
        return values.complete and set(values.strings()) == {"cpu"}

    def _computed(self, node: ast.Call) -> Holds:
        """Judge what a function computes from its arguments: it is where they are."""
        found = [held for argument in node.args for held in self._parts(argument)]
        found += [self.of(k.value) for k in node.keywords if k.arg in {"input", "other", "tensors"}]
        if any(held in _DEVICE for held in found):
            return Holds.TENSOR
        if Holds.UNKNOWN in found or Holds.HOST not in found:
            return Holds.LIKELY
        return Holds.HOST

    def _parts(self, node: ast.expr) -> list[Holds]:
        parts = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
        return [self.of(part) for part in parts]

    def _method(self, node: ast.Call, callee: ast.Attribute) -> Holds:
        if isinstance(callee.value, ast.Name) and callee.value.id == "self":
            return self._own_call(node, callee)
        if callee.attr in known.HOST_RESULTS:
            return Holds.OTHER
        if callee.attr == "cpu":
            return Holds.HOST
        base = self.of(callee.value)
        if callee.attr in _MOVES:
            return self._moved(node, callee, base)
        return base if base in _DEVICE or base is Holds.HOST else self._unknown(callee, base)

    def _unknown(self, callee: ast.Attribute, base: Holds) -> Holds:
        """Judge a method's result by its name: of what is called, nothing is known."""
        if base is Holds.UNKNOWN and callee.attr in known.TENSOR_METHODS:
            return Holds.LIKELY
        if known.MODEL.search(callee.attr) and not self._module.is_imported(callee.value):
            return Holds.LIKELY
        return Holds.UNKNOWN

    def _moved(self, node: ast.Call, callee: ast.Attribute, base: Holds) -> Holds:
        target = node.args[0] if node.args else keyword(node, "device")
        if target is not None and self.is_host(target):
            return Holds.HOST
        if base is Holds.HOST:
            return base if self._is_dtype(target) else Holds.TENSOR
        if base is Holds.UNKNOWN:
            word = getattr(callee.value, "attr", getattr(callee.value, "id", ""))
            return Holds.UNKNOWN if known.MODEL.search(word) else Holds.LIKELY
        return base

    def _is_dtype(self, node: ast.expr | None) -> bool:
        if node is None:
            return True
        names = self._module.qualified(node)
        return any(known.NOT_TENSORS.match(name) for name in names)

    def _own_call(self, node: ast.Call, callee: ast.Attribute) -> Holds:
        """Judge ``self.layer(x)`` by what the class stores there, ``self.method(x)`` by that."""
        stored = self._module.classes.stored(callee)
        made = [value.func for value in stored if isinstance(value, ast.Call)]
        made = [func for func in made if not self._is_plain(func)]
        if any(self._module.is_named(func, "torch.nn.*") for func in made):
            return Holds.TENSOR
        owner = self._module.classes.enclosing(node)
        for function in self._module.index.definitions:
            if function.name == callee.attr and self._module.parent(function) is owner:
                return self._result(function)
        if made or known.MODEL.search(callee.attr):
            return Holds.LIKELY
        # What a module's own layer makes of a tensor is one, wherever the layer is set.
        in_module = self._module.context(node).function
        layered = in_module is not None and in_module.name == "forward"
        return Holds.LIKELY if layered and any(map(self.may_be, node.args)) else Holds.UNKNOWN

    def _is_plain(self, callee: ast.expr) -> bool:
        """Tell a class of this file without a base: it is no module of PyTorch's."""
        return isinstance(callee, ast.Name) and any(
            isinstance(node, ast.ClassDef) and node.name == callee.id and not node.bases
            for node in self._module.index.definitions
        )

    def _function(self, node: ast.Call, callee: ast.Name) -> Holds:
        bindings = self._module.scopes.bindings(callee)
        if not bindings and callee.id in _BUILTINS:
            if callee.id in {"sum", "abs", "max", "min"} and node.args:
                return _most(map(self.of, node.args))
            return Holds.OTHER
        for binding in bindings:
            if isinstance(binding.node, _FUNCTIONS):
                return self._result(binding.node)
        if any(self._is_module(binding.value) for binding in bindings):
            return Holds.TENSOR
        if callee.id[:1].isupper():
            return Holds.OTHER
        return Holds.LIKELY if known.MODEL.search(callee.id) else Holds.UNKNOWN

    def _is_module(self, value: ast.expr | None) -> bool:
        """Tell whether a value is one of PyTorch's own modules, moved perhaps."""
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if self._module.is_named(value.func, "torch.nn.*"):
                return True
            value = value.func.value
        return isinstance(value, ast.Call) and self._module.is_named(value.func, "torch.nn.*")

    def _result(self, function: ast.AST) -> Holds:
        """Judge what a function of this file returns."""
        if not isinstance(function, _FUNCTIONS):
            return Holds.OTHER
        if function.returns is not None:
            return self._annotated(function.returns)
        results = self._module.calls.returned(function)
        held = _most(map(self.of, results))
        return Holds.LIKELY if held is Holds.TENSOR else held


def tensors(module: Module) -> Tensors:
    """Return the judge of a module's expressions; one for all rules.

    The module keeps it: the two refer to each other, so that a table elsewhere would keep both.
    """
    found: Tensors = module.__dict__.setdefault("_tensors", None) or Tensors(module)
    module.__dict__["_tensors"] = found
    return found
