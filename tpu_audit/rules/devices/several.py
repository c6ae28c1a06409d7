"""Places where one process uses several devices: two rules look at them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tpu_audit.rules.devices.literals import is_of_cuda, says_cuda
from tpu_audit.rules.python.devices import SinkKind, is_cuda
from tpu_audit.rules.python.scopes import Kind
from tpu_audit.rules.python.walk import descend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

_KINDS = frozenset({SinkKind.TO, SinkKind.DEVICE, SinkKind.KEYWORD})
_OF_MODULE: WeakKeyDictionary[Any, dict[ast.expr, None]] = WeakKeyDictionary()


def several(module: Module) -> dict[ast.expr, None]:
    """Return the places in their order: indices that loops give, or beside another index."""
    found = _OF_MODULE.get(module)
    if found is None:
        found = _OF_MODULE[module] = dict.fromkeys(_find(module))
    return found


def _find(module: Module) -> Iterator[ast.expr]:
    first: dict[ast.AST | None, str] = {}
    for place, text in sorted(_indexed(module), key=lambda p: (p[0].lineno, p[0].col_offset)):
        scope = module.context(place).function
        if text is None or first.setdefault(scope, text) != text:
            yield place


def _indexed(module: Module) -> Iterator[tuple[ast.expr, str | None]]:
    """Iterate over places of devices with an index: the device's text, None for a loop's index."""
    for sink in module.sinks:
        if sink.kind in _KINDS and not module.reach(sink.node).dead:
            yield from _of_sink(sink.node, sink.call, module)
    for attribute in module.index.attributes.get("cuda", ()):
        call = module.parent(attribute)
        if not isinstance(call, ast.Call) or call.func is not attribute or not call.args:
            continue
        index = call.args[0]
        if module.is_imported(attribute.value) or module.reach(call).dead:
            continue
        if _runs(index, module):
            yield index, None
        elif isinstance(index, ast.Constant) and type(index.value) is int:
            yield index, f"cuda:{index.value}"


def _of_sink(
    node: ast.expr, call: ast.Call | None, module: Module
) -> Iterator[tuple[ast.expr, str | None]]:
    for possible in module.value(node):
        if not is_cuda(possible) or module.reach(possible.node).dead:
            continue
        if not says_cuda(possible.node) or is_of_cuda(possible.node, module):
            continue
        second = call.args[1:2] if call is not None and node in call.args[:1] else []
        if _runs(possible.node, module) or any(_runs(n, module) for n in second):
            yield possible.node, None
        elif str(possible.value).partition(":")[2].isdigit():
            yield possible.node, str(possible.value)
        elif second and isinstance(second[0], ast.Constant):
            yield possible.node, f"cuda:{second[0].value!r}"


def _runs(node: ast.expr, module: Module) -> bool:
    """Tell whether an index is a variable of a loop or a comprehension."""
    names = (part for part in descend(node) if isinstance(part, ast.Name))
    return any(_is_loop_variable(name, module) for name in names)


def _is_loop_variable(name: ast.Name, module: Module) -> bool:
    bindings = module.scopes.bindings(name)
    return bool(bindings) and all(
        binding.kind is Kind.LOOP or _is_target(binding.node, module) for binding in bindings
    )


def _is_target(node: ast.AST, module: Module) -> bool:
    """Tell one of several names that a loop binds."""
    parent = module.parent(node)
    while isinstance(parent, ast.Tuple | ast.List | ast.Starred):
        node, parent = parent, module.parent(parent)
    loops = ast.For | ast.AsyncFor | ast.comprehension
    return isinstance(parent, loops) and parent.target is node
