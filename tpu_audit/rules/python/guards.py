"""What a test for CUDA guards: a demand, an extra that CUDA alone needs, or a way of its own."""

from __future__ import annotations

import ast
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpu_audit.rules.python.module import Module

_EXITS = frozenset({"exit", "_exit", "abort", "fail", "skip", "SkipTest"})
_TALK = frozenset(
    {"print", "info", "debug", "warning", "warn", "error", "log", "warning_once", "info_once"}
)


class Guarded(Enum):
    """What depends on a test that is false on a TPU."""

    DEMAND = auto()
    """The program stops without CUDA."""
    EXTRA = auto()
    """Only work that CUDA alone needs: its caches, seeds and statistics, or a message."""
    WAY = auto()
    """Anything else."""


def guard_of(node: ast.expr, module: Module) -> Guarded:
    """Return what the test around ``node``, a use of the CUDA API, guards."""
    child: ast.AST = node
    parent = module.parent(node)
    while isinstance(parent, ast.expr | ast.keyword) and not isinstance(parent, ast.IfExp):
        child, parent = parent, module.parent(parent)
    if isinstance(parent, ast.Assert):
        return Guarded.DEMAND if child is parent.test else Guarded.WAY
    if not isinstance(parent, ast.If) or child is not parent.test:
        return Guarded.WAY
    return _of_statement(node, parent, module)


def _of_statement(node: ast.expr, statement: ast.If, module: Module) -> Guarded:
    truth = module.truth(statement.test)
    if truth is None:
        return Guarded.WAY
    dead, taken = statement.body, statement.orelse
    if truth:
        dead, taken = taken, dead
    if taken and _stops(taken[-1]):
        return Guarded.DEMAND
    counts = isinstance(module.parent(module.parent(node) or node), ast.Compare)
    if counts or (not taken and all(_is_extra(one, module) for one in dead)):
        return Guarded.EXTRA
    return Guarded.WAY


def _stops(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        return True
    value = getattr(statement, "value", None)
    return isinstance(value, ast.Call) and _word(value.func) in _EXITS


def _is_extra(statement: ast.stmt, module: Module) -> bool:
    if isinstance(statement, ast.If | ast.For | ast.With):
        return all(_is_extra(inner, module) for inner in _bodies(statement))
    if isinstance(statement, ast.Pass):
        return True
    if isinstance(statement, ast.Assign) and all(
        module.is_named(target, "torch.backends.*") for target in statement.targets
    ):
        return True
    value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    if not isinstance(value, ast.Call):
        return False
    callee = value.func
    return module.is_named(callee, "torch.cuda.*", "torch.backends.*") or says(callee)


def says(callee: ast.expr) -> bool:
    """Tell ``print`` and methods of loggers."""
    return _word(callee) in _TALK


def _bodies(statement: ast.If | ast.For | ast.With) -> Sequence[ast.stmt]:
    return [*statement.body, *getattr(statement, "orelse", ())]


def _word(callee: ast.expr) -> str:
    return str(getattr(callee, "attr", getattr(callee, "id", "")))
