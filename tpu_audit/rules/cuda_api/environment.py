"""Environment variables in Python: which strings name one, and whether it is set or read."""

from __future__ import annotations

import ast
import re
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpu_audit.rules.python.module import Module

_HOLDER = re.compile(r"(?:^|_)env(?:iron(?:ment)?)?(?:_|$)", re.IGNORECASE)
_OS = ("os.environ", "environ")
RUNNERS = frozenset(
    {
        *("run", "call", "check_call", "check_output", "Popen", "system", "popen", "getoutput"),
        *("getstatusoutput", "create_subprocess_exec", "create_subprocess_shell"),
    }
)
"""Functions that run a command, by their last name."""
_SETTERS = frozenset({"setdefault", "putenv", "setenv", "unsetenv", "pop"})
_GETTERS = frozenset({"get", "getenv", "__getitem__"})
_OUTRIGHT = frozenset({"getenv", "putenv", "setenv", "unsetenv"})


class Use(StrEnum):
    """What is done to a variable."""

    SET = "set"
    READ = "read"


def use_of(constant: ast.Constant, module: Module) -> Use | None:
    """Return what is done to the variable that a string names; None where it names none."""
    parent = module.parent(constant)
    if isinstance(parent, ast.Subscript) and parent.slice is constant:
        if not _is_environment(parent.value, module):
            return None
        return Use.READ if isinstance(parent.ctx, ast.Load) else Use.SET
    if isinstance(parent, ast.Call) and parent.args[:1] == [constant]:
        return _called(parent, module)
    if isinstance(parent, ast.Compare) and parent.left is constant:
        inside = _is_environment(parent.comparators[0], module)
        return Use.READ if inside else None
    if isinstance(parent, ast.Dict) and constant in parent.keys:
        return Use.SET if _becomes_environment(parent, module) else None
    return None


def _called(call: ast.Call, module: Module) -> Use | None:
    word = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if word not in _SETTERS | _GETTERS:
        return None
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    known = receiver is not None and _is_environment(receiver, module)
    if not known and word not in _OUTRIGHT:
        return None
    return Use.SET if word in _SETTERS else Use.READ


def is_run(constant: ast.Constant, module: Module) -> bool:
    """Tell whether a string, or the f-string or list that it is in, is run as a command."""
    if _runs(constant, module):
        return True
    statement = module.parent(constant)
    while isinstance(statement, ast.List | ast.Tuple):
        statement = module.parent(statement)
    names = statement.targets if isinstance(statement, ast.Assign) else []
    return any(
        isinstance(use.ctx, ast.Load) and _runs(use, module)
        for name in names
        if isinstance(name, ast.Name)
        for use in module.index.names[name.id]
    )


def _runs(command: ast.expr, module: Module) -> bool:
    """Tell whether an expression, a part of it or what it is split into is run."""
    node: ast.AST = command
    parent = module.parent(node)
    while isinstance(parent, ast.JoinedStr | ast.List | ast.Tuple | ast.BinOp) or (
        isinstance(parent, ast.Attribute | ast.Call) and _splits(parent)
    ):
        node, parent = parent, module.parent(parent)
    return (
        isinstance(parent, ast.Call)
        and node in parent.args
        and getattr(parent.func, "attr", getattr(parent.func, "id", "")) in RUNNERS
    )


def _splits(node: ast.Attribute | ast.Call) -> bool:
    """Tell ``command.split()`` and ``shlex.split(command)``, the method or the call."""
    callee = node.func if isinstance(node, ast.Call) else node
    return getattr(callee, "attr", "") == "split"


def is_update(argument: ast.keyword, module: Module) -> bool:
    """Tell whether ``NAME=value`` sets a variable: in an update or in ``dict(env)``."""
    call = module.parent(argument)
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Attribute) and call.func.attr == "update":
        return _is_environment(call.func.value, module)
    return getattr(call.func, "id", "") == "dict" and (
        any(_is_environment(given, module) for given in call.args)
        or _becomes_environment(call, module)
    )


def _is_environment(node: ast.expr, module: Module) -> bool:
    """Tell whether an expression is an environment, by its name or its spelling."""
    if module.is_named(node, *_OS):
        return True
    word = getattr(node, "attr", getattr(node, "id", ""))
    return _HOLDER.search(word) is not None


def _becomes_environment(node: ast.expr, module: Module) -> bool:
    """Tell whether a dict is passed, merged or assigned as an environment."""
    parent = module.parent(node)
    if isinstance(parent, ast.BinOp | ast.Dict | ast.IfExp):
        return _becomes_environment(parent, module)
    if isinstance(parent, ast.keyword):
        return parent.arg is not None and _HOLDER.search(parent.arg) is not None
    if isinstance(parent, ast.Call):
        attribute = parent.func if isinstance(parent.func, ast.Attribute) else None
        return attribute is not None and _is_environment(attribute.value, module)
    if isinstance(parent, ast.Assign):
        return _is_environment(parent.targets[0], module)
    if isinstance(parent, ast.AugAssign):
        return _is_environment(parent.target, module)
    return False
