"""Choices of a device by whether CUDA is available: a TPU falls silently to the other arm."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.rules.python.devices import is_cuda
from tpu_audit.rules.python.walk import children, descend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

_AVAILABILITY = (
    *("torch.cuda.is_available", "torch.cuda.device_count", "torch.backends.cuda.is_built"),
)
_HELPERS = frozenset({"is_torch_cuda_available", "is_cuda_available", "cuda_is_available"})
"""Functions of libraries that ask for CUDA, by their last name."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class DeviceChoice:
    """``A if CUDA else B``, as an expression or a statement, where A is a CUDA device."""

    node: ast.expr | ast.If
    test: ast.expr
    """Whether CUDA is available, in the words of the code."""
    cuda: tuple[ast.expr, ...]
    """The CUDA devices in the arm that a TPU does not take."""
    other: tuple[ast.expr, ...]
    """What the other arm has in their place; empty where it has nothing."""

    @property
    def direct(self) -> bool:
        """Whether the test is a call of the availability API alone, perhaps negated."""
        test = self.test
        if isinstance(test, ast.UnaryOp):
            test = test.operand
        return isinstance(test, ast.Call)


def find_choices(module: Module) -> Iterator[DeviceChoice]:
    """Iterate over the choices of a module."""
    for node in module.index.of(ast.IfExp):
        yield from _expression(module, node)
    for either in module.index.of(ast.BoolOp):
        yield from _and_or(module, either)
    for item in module.index.of(ast.Subscript):
        yield from _item(module, item)
    for statement in module.index.of(ast.If):
        yield from _statement(module, statement)


def depends_on_availability(module: Module, test: ast.expr) -> bool:
    """Tell whether a test asks, itself or through variables, whether CUDA is available."""
    seen: set[ast.AST] = set()
    stack: list[ast.AST] = [test]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, ast.Call) and _asks(node.func, module):
            return True
        if isinstance(node, ast.Attribute) and node.attr == "has_cuda":
            return True
        stack += [*children(node), *_sources(module, node)]
    return False


def _asks(callee: ast.expr, module: Module) -> bool:
    word = getattr(callee, "attr", getattr(callee, "id", ""))
    return word in _HELPERS or module.is_named(callee, *_AVAILABILITY)


def _sources(module: Module, node: ast.AST) -> list[ast.expr]:
    """Return the expressions that give a name, attribute or own function its value."""
    if isinstance(node, ast.Name):
        bindings = module.scopes.bindings(node)
        found = [b.value for b in bindings if b.value is not None]
        functions = [b.node for b in bindings if isinstance(b.node, ast.FunctionDef)]
        return found + [r for f in functions for r in module.calls.returned(f)]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if node.value.id in {"self", "cls"}:
            return list(module.classes.stored(node))
        return module.classes.stored_in(node.value.id, node.attr)
    return []


def _expression(module: Module, node: ast.IfExp) -> Iterator[DeviceChoice]:
    truth = module.truth(node.test)
    if truth is None:
        return
    cuda, other = (node.orelse, node.body) if truth else (node.body, node.orelse)
    numbered = _is_number(cuda, 0) and (_is_number(other, -1) or _is_cpu(other))
    if (numbered or _has_cuda(module, cuda)) and depends_on_availability(module, node.test):
        yield DeviceChoice(node=node, test=node.test, cuda=(cuda,), other=(other,))


def _and_or(module: Module, node: ast.BoolOp) -> Iterator[DeviceChoice]:
    """Yield ``CUDA and A or B``."""
    first = node.values[0]
    if not isinstance(node.op, ast.Or) or not isinstance(first, ast.BoolOp):
        return
    test, cuda = first.values[0], first.values[-1]
    if (
        isinstance(first.op, ast.And)
        and module.truth(test) is False
        and _has_cuda(module, cuda)
        and depends_on_availability(module, test)
    ):
        yield DeviceChoice(node=node, test=test, cuda=(cuda,), other=(node.values[-1],))


def _item(module: Module, node: ast.Subscript) -> Iterator[DeviceChoice]:
    """Yield ``(B, A)[CUDA]`` and ``{True: A, False: B}[CUDA]``."""
    arms = chosen_by_truth(node)
    if arms is None or not _has_cuda(module, arms[True]):
        return
    if module.truth(node.slice) is False and depends_on_availability(module, node.slice):
        cuda, other = (arms[True],), (arms[False],)
        yield DeviceChoice(node=node, test=node.slice, cuda=cuda, other=other)


def chosen_by_truth(node: ast.Subscript) -> dict[bool, ast.expr] | None:
    """Return what a literal gives for a truth as its index, None for another subscript."""
    if isinstance(node.value, ast.Tuple | ast.List) and len(node.value.elts) == 2:  # noqa: PLR2004 # false, true
        return dict(zip((False, True), node.value.elts, strict=True))
    if not isinstance(node.value, ast.Dict):
        return None
    arms = {
        key.value: value
        for key, value in zip(node.value.keys, node.value.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, bool)
    }
    return arms if len(arms) == len(node.value.keys) == 2 else None  # noqa: PLR2004 # false, true


def _is_number(node: ast.expr, least: int) -> bool:
    """Tell the device number 0 or above, or -1, which a pipeline takes for the CPU."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return least < 0 and isinstance(node.operand, ast.Constant) and node.operand.value == 1
    return least >= 0 and isinstance(node, ast.Constant) and type(node.value) is int


def _is_cpu(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "cpu"


def _has_cuda(module: Module, node: ast.expr) -> bool:
    return any(is_cuda(possible) for possible in module.value(node))


def _statement(module: Module, node: ast.If) -> Iterator[DeviceChoice]:
    truth = module.truth(node.test)
    if truth is None:
        return
    cuda, other = (node.orelse, node.body) if truth else (node.body, node.orelse)
    found = tuple(v for s in cuda for v in _devices(module, s))
    if found and depends_on_availability(module, node.test):
        others = tuple(v for s in other if isinstance(s, ast.Assign) for v in (s.value,))
        yield DeviceChoice(node=node, test=node.test, cuda=found, other=others)


def _devices(module: Module, statement: ast.stmt) -> Iterator[ast.expr]:
    """Iterate over CUDA devices that a statement assigns, returns or moves to."""
    if not isinstance(statement, ast.Assign | ast.Expr | ast.Return) or statement.value is None:
        return
    if not isinstance(statement, ast.Expr) and _has_cuda(module, statement.value):
        yield statement.value
    else:
        for node in descend(statement.value):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "cuda":
                yield node
