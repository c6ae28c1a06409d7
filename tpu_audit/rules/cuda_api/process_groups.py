"""Backends of process groups: where ``"nccl"`` stands for one, and where it decides."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.options import destination, keyword
from tpu_audit.rules.python.possible import Via
from tpu_audit.rules.python.walk import descend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module
    from tpu_audit.rules.python.possible import Possible

_NCCL = re.compile(r"(?:\w+:\w+,)*(?:cuda:)?nccl(?:,\w+:\w+)*", re.IGNORECASE)
_BACKEND = re.compile(r"backend", re.IGNORECASE)
_CALLS = ("torch.distributed.init_process_group", "torch.distributed.new_group")
_LAST = frozenset({"init_process_group", "new_group"})
_THROUGH = (ast.BoolOp, ast.IfExp, ast.NamedExpr)
_OPEN = frozenset({Via.DEFAULT, Via.FIELD, Via.OPTION, Via.CONFIG, Via.ENVIRONMENT})
"""Ways of a value that something else may override."""


def is_nccl(value: object) -> bool:
    """Tell whether a constant is ``nccl``, or a list with it: ``cuda:nccl,cpu:gloo``."""
    return isinstance(value, str) and _NCCL.fullmatch(value.strip()) is not None


def backends_given(module: Module) -> Iterator[Possible]:
    """Iterate over the constants that reach the backend of a process group in this file."""
    for word in _LAST:
        for table in (module.index.names, module.index.attributes):
            for callee in table.get(word, ()):
                call = module.parent(callee)
                if isinstance(call, ast.Call) and call.func is callee:
                    yield from _given(call, word, module)


def _given(call: ast.Call, word: str, module: Module) -> Iterator[Possible]:
    place = 0 if word == "init_process_group" else 2
    node = keyword(call, "backend")
    if node is None and len(call.args) > place:
        node = call.args[place]
    if node is not None:
        yield from module.value(node)


def is_open(possible: Possible) -> bool:
    """Tell whether a constant is a default that a user, a caller or a config may override."""
    return possible.via in _OPEN


def outermost(node: ast.expr, module: Module) -> ast.expr:
    """Return the expression whose value ``node`` may be: the whole of a choice."""
    parent = module.parent(node)
    while isinstance(parent, _THROUGH) and node is not getattr(parent, "test", None):
        node, parent = parent, module.parent(parent)
    return node


def is_backend(node: ast.expr, module: Module) -> bool:
    """Tell whether an expression is given to something that is named like a backend."""
    whole = outermost(node, module)
    parent = module.parent(whole)
    if isinstance(parent, ast.keyword):
        return _named(parent.arg) or (parent.arg == "default" and _is_option(parent, module))
    if isinstance(parent, ast.Assign | ast.AnnAssign):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return any(_named(_word(target)) for target in targets)
    if isinstance(parent, ast.Dict):
        return any(v is whole and _named(_word(k)) for k, v in _items(parent))
    if isinstance(parent, ast.arguments):
        return _is_default(whole, parent)
    if isinstance(parent, ast.Call):
        return _is_fallback(whole, parent)
    function = module.context(whole).function
    return isinstance(parent, ast.Return) and function is not None and _named(function.name)


def decides(node: ast.expr, module: Module) -> ast.If | ast.IfExp | None:
    """Return the choice whose test compares something with ``node`` for equality."""
    test: ast.AST | None = module.parent(node)
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return None
    parent = module.parent(test)
    return parent if isinstance(parent, ast.If | ast.IfExp) and parent.test is test else None


def is_under_nccl(node: ast.AST, module: Module) -> bool:
    """Tell whether ``node`` runs only where the backend is NCCL's already."""
    child, parent = node, module.parent(node)
    while parent is not None:
        if isinstance(parent, ast.If | ast.IfExp) and child is not parent.test:
            body = parent.body if isinstance(parent.body, list) else [parent.body]
            constants = (n for n in descend(parent.test) if isinstance(n, ast.Constant))
            if child in body and any(is_nccl(constant.value) for constant in constants):
                return True
        child, parent = parent, module.parent(parent)
    return False


def _items(node: ast.Dict) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    return zip(node.keys, node.values, strict=True)


def _is_option(argument: ast.keyword, module: Module) -> bool:
    call = module.parent(argument)
    return isinstance(call, ast.Call) and _named(destination(call))


def _is_default(node: ast.expr, arguments: ast.arguments) -> bool:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = arguments.defaults
    pairs = [
        *zip(positional[len(positional) - len(defaults) :], defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return any(default is node and _named(argument.arg) for argument, default in pairs)


def _is_fallback(node: ast.expr, call: ast.Call) -> bool:
    """Tell whether a call looks a backend up, with ``node`` as what it falls back to."""
    first = call.args[0] if call.args else None
    word = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return (
        word in {"get", "getenv", "pop", "setdefault"}
        and node is not first
        and _named(_word(first))
    )


def _word(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Subscript):
        return _word(node.slice)
    return getattr(node, "attr", getattr(node, "id", ""))


def _named(word: str | None) -> bool:
    return word is not None and _BACKEND.search(word) is not None
