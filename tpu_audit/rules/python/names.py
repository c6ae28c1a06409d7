"""Qualified names: every dotted name that an expression may mean, through aliases of all kinds."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from tpu_audit.rules.python.canonical import canonical
from tpu_audit.rules.python.scopes import Binding, Kind
from tpu_audit.rules.python.torch_versions import asks_version
from tpu_audit.rules.python.walk import descend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tpu_audit.rules.python.module import Module

_DEPTH = 12
"""Steps through aliases: more than code has, few enough for generated monsters."""
_NONE: frozenset[str] = frozenset()
_IMPORTERS = frozenset({"importlib.import_module", "import_module", "__import__"})
_IMPORTER_WORDS = frozenset({"import_module", "__import__"})
_WRAPPER = re.compile(r"import|lazy_?load|LazyLoader|lazy_module")
"""Names of project helpers that import what a string names."""
CUSTOMARY = {
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "dist": "torch.distributed",
    "np": "numpy",
    "cudnn": "torch.backends.cudnn",
    "DDP": "torch.nn.parallel.DistributedDataParallel",
    "mp": "torch.multiprocessing",
    "cuda": "torch.cuda",
    "init_device_mesh": "torch.distributed.device_mesh.init_device_mesh",
    "sdpa_kernel": "torch.nn.attention.sdpa_kernel",
    "pl": "pytorch_lightning",
    "L": "lightning",
    "ProfilerActivity": "torch.profiler.ProfilerActivity",
    "bnb": "bitsandbytes",
    "cp": "cupy",
    "pipeline": "transformers.pipeline",
    "xops": "xformers.ops",
    "te": "transformer_engine.pytorch",
    "ort": "onnxruntime",
    "placement_group": "ray.util.placement_group.placement_group",
}
"""What names mean that a snippet uses without importing them."""


class Names:
    """Resolves expressions of one module to dotted names."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._rules: dict[type[ast.expr], Callable[[Any, int], frozenset[str]]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.IfExp: self._arms,
            ast.BoolOp: self._operands,
            ast.NamedExpr: self._walrus,
            ast.Subscript: self._subscript,
        }
        self._known: dict[ast.expr, frozenset[str]] = {}
        self._imports: dict[Binding, frozenset[str]] = {}
        self._stars = tuple(
            _source_of(node)
            for node in module.index.of(ast.ImportFrom)
            if any(alias.name == "*" for alias in node.names)
        )

    def qualified(self, node: ast.expr, depth: int = _DEPTH) -> frozenset[str]:
        """Return all dotted names that ``node`` may mean, in their documented spelling."""
        found = self._known.get(node)
        if found is None:
            self._known[node] = _NONE  # for what refers to itself
            found = frozenset(map(canonical, self._resolve(node, depth))) if depth else _NONE
            self._known[node] = found
        return found

    def _resolve(self, node: ast.expr, depth: int) -> Iterable[str]:
        rule = self._rules.get(type(node))
        return _NONE if rule is None else rule(node, depth)

    def _arms(self, node: ast.IfExp, depth: int) -> frozenset[str]:
        recent = asks_version(node.test)
        arms = (node.body, node.orelse) if recent is None else ((node.orelse, node.body)[recent],)
        return self._any(arms, depth - 1)

    def _operands(self, node: ast.BoolOp, depth: int) -> frozenset[str]:
        return self._any(node.values, depth - 1)

    def _walrus(self, node: ast.NamedExpr, depth: int) -> frozenset[str]:
        return self.qualified(node.value, depth - 1)

    def _any(self, nodes: Iterable[ast.expr], depth: int) -> frozenset[str]:
        return frozenset(name for node in nodes for name in self.qualified(node, depth))

    def _name(self, node: ast.Name, depth: int) -> frozenset[str]:
        bindings = self._module.scopes.bindings(node)
        if len(bindings) == 1:
            return self.bound(bindings[0], depth - 1)
        if not bindings:
            known = CUSTOMARY.get(node.id, node.id)
            return frozenset({known, *(f"{star}.{node.id}" for star in self._stars)})
        return frozenset(name for b in bindings for name in self.bound(b, depth - 1))

    def bound(self, binding: Binding, depth: int = _DEPTH) -> frozenset[str]:
        """Return the dotted names that a binding may stand for."""
        if isinstance(binding.node, ast.alias):
            if binding not in self._imports:
                self._imports[binding] = frozenset({canonical(self._imported(binding.node))})
            return self._imports[binding]
        if isinstance(binding.node, ast.arg) and binding.node.arg == "torch":
            return frozenset({"torch"})  # what else would a caller pass?
        if binding.kind is Kind.UNPACKED and isinstance(binding.value, ast.Call):
            # Helpers for optional imports return the module and whether it is there.
            return self.qualified(binding.value, depth)
        if binding.kind in {Kind.ASSIGN, Kind.ARGUMENT} and binding.value is not None:
            return self.qualified(binding.value, depth)
        return _NONE

    def _imported(self, alias: ast.alias) -> str:
        statement = self._module.index.parents[alias]
        if isinstance(statement, ast.ImportFrom):
            return f"{_source_of(statement)}.{alias.name}"
        return alias.name if alias.asname else alias.name.partition(".")[0]

    def _attribute(self, node: ast.Attribute, depth: int) -> frozenset[str]:
        chain = [node.attr]
        base = node.value
        while isinstance(base, ast.Attribute):
            chain.append(base.attr)
            base = base.value
        if isinstance(base, ast.Name) and base.id in {"self", "cls"}:
            return self._own_attribute(node, depth - 1)
        tail = ".".join(reversed(chain))
        return frozenset(f"{name}.{tail}" for name in self.qualified(base, depth))

    def _own_attribute(self, node: ast.Attribute, depth: int) -> frozenset[str]:
        """Resolve ``self.cuda.empty_cache`` by what the class stores in ``self.cuda``."""
        if isinstance(node.value, ast.Name):
            return self._any(self._module.classes.stored(node), depth)
        heads = self.qualified(node.value, depth)
        return frozenset(f"{head}.{node.attr}" for head in heads)

    def _call(self, node: ast.Call, depth: int) -> frozenset[str]:
        callee = node.func
        word = callee.id if isinstance(callee, ast.Name) else getattr(callee, "attr", "")
        if word == "getattr" and len(node.args) > 1:
            return self._getattr(node, depth)
        if word in _IMPORTER_WORDS and node.args:
            return self._literal_names(node.args[0])
        if word == "get" and isinstance(callee, ast.Attribute) and node.args:
            loaded = "sys.modules" in self.qualified(callee.value, depth)
            return self._literal_names(node.args[0]) if loaded else _NONE
        if _WRAPPER.search(word) and node.args:
            return self._literal_names(node.args[-1 if word == "LazyLoader" else 0])
        return self._through_wrapper(node, callee) if isinstance(callee, ast.Name) else _NONE

    def _getattr(self, node: ast.Call, depth: int) -> frozenset[str]:
        heads = self.qualified(node.args[0], depth)
        tails = self._names_in(node.args[1]) if heads else ()
        return frozenset(f"{head}.{tail}" for head in heads for tail in tails if _is_dotted(tail))

    def _names_in(self, node: ast.expr) -> list[str]:
        """Return the strings that reach ``node`` on a TPU: ``"cuda"`` in a dead arm does not."""
        return [
            possible.value
            for possible in self._module.value(node)
            if isinstance(possible.value, str)
            and (possible.node is node or not self._module.reach(possible.node).dead)
        ]

    def _literal_names(self, node: ast.expr) -> frozenset[str]:
        return frozenset(filter(_is_dotted, self._module.value(node).strings()))

    def _through_wrapper(self, node: ast.Call, callee: ast.Name) -> frozenset[str]:
        """Resolve ``soft("torch.cuda")`` where ``soft`` returns ``import_module(its argument)``."""
        if not node.args or not isinstance(node.args[0], ast.Constant):
            return _NONE
        for binding in self._module.scopes.bindings(callee):
            if isinstance(binding.node, ast.FunctionDef) and self._imports_argument(binding.node):
                return self._literal_names(node.args[0])
        return _NONE

    def _imports_argument(self, function: ast.FunctionDef) -> bool:
        arguments = [*function.args.posonlyargs, *function.args.args]
        return bool(arguments) and any(
            isinstance(call, ast.Call)
            and bool(call.args)
            and isinstance(call.args[0], ast.Name)
            and call.args[0].id == arguments[0].arg
            and bool(self.qualified(call.func) & _IMPORTERS)
            for call in descend(function)
        )

    def _subscript(self, node: ast.Subscript, depth: int) -> frozenset[str]:
        """Resolve ``sys.modules["torch.cuda"]`` and an entry of a literal dict."""
        if "sys.modules" in self.qualified(node.value, depth):
            return self._literal_names(node.slice)
        return _NONE


def _source_of(node: ast.ImportFrom) -> str:
    """Return the module that ``from`` names; relative ones keep their dots."""
    return "." * node.level + (node.module or "")


def _is_dotted(text: str) -> bool:
    return bool(text) and all(part.isidentifier() for part in text.split("."))
