"""Which arm a TPU takes: what runs there, what never does, what runs because CUDA is missing."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tpu_audit.rules.python.choices import chosen_by_truth
from tpu_audit.rules.python.torch_versions import asks_version
from tpu_audit.rules.python.truth import OTHER_DEVICES
from tpu_audit.rules.python.walk import descend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

Guard = tuple[ast.AST, bool | None]
"""What decides, and whether a TPU process passes; None where that is not known."""
_LACKS = frozenset({"AttributeError", "TypeError", "ImportError", "ModuleNotFoundError"})
_RECENT = ("torch.amp.*", "torch.accelerator.*", "torch.compile")
"""What every PyTorch that TPUs work with has."""
_LEAVES = (ast.Return, ast.Continue, ast.Break)


class State(StrEnum):
    """What a place is for a process on a TPU."""

    LIVE = "live"
    """Runs, or may run."""
    DEAD = "dead"
    """Never runs: a test for CUDA or another device guards it."""
    OTHER = "other"
    """Runs because a test for CUDA is false: the arm that was written for CPU, most often."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a place is on a TPU, and the test that decides."""

    state: State
    guard: ast.AST | None = None

    @property
    def dead(self) -> bool:
        """Whether it never runs on a TPU."""
        return self.state is State.DEAD


LIVE = Reach(State.LIVE)


class Reachability:
    """Judges places of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[ast.AST, Reach] = {}
        self._blocks: dict[int, list[tuple[int, ast.If]]] = {}
        self._inner: dict[ast.AST, ast.expr | None] = {}

    def of(self, node: ast.AST) -> Reach:
        """Return what ``node`` is on a TPU."""
        if node not in self._known:
            self._known[node] = self._judge(node)
        return self._known[node]

    def _judge(self, node: ast.AST) -> Reach:
        other: Reach | None = None
        child = node
        parent = self._module.index.parents.get(node)
        while parent is not None:
            for guard, taken in self._guards(child, parent):
                if taken is False:
                    return Reach(State.DEAD, guard)
                if taken and other is None:
                    other = Reach(State.OTHER, guard)
            child, parent = parent, self._module.index.parents.get(parent)
        return other or LIVE

    def _guards(self, child: ast.AST, parent: ast.AST) -> Iterator[Guard]:
        """Iterate over what decides whether ``child`` of ``parent`` runs."""
        if isinstance(parent, ast.If | ast.IfExp | ast.While):
            yield from self._arm(child, parent)
        elif isinstance(parent, ast.BoolOp):
            yield from self._operand(child, parent)
        elif isinstance(parent, ast.Dict):
            yield from self._entry(child, parent)
            yield from self._item(child, parent)
        elif isinstance(parent, ast.Tuple | ast.List):
            yield from self._item(child, parent)
        elif isinstance(parent, ast.match_case):
            yield from self._case(child, parent)
        elif isinstance(parent, ast.Try):
            yield from self._fallback(child, parent)
        elif isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from self._decorated(child, parent)
            if not isinstance(parent, ast.ClassDef):
                yield from self._called(child, parent)
        if isinstance(child, ast.stmt):
            yield from self._left_before(child)

    def _arm(self, child: ast.AST, parent: ast.If | ast.IfExp | ast.While) -> Iterator[Guard]:
        if child is parent.test:
            return
        body = parent.body if isinstance(parent.body, list) else [parent.body]
        passes = self._module.truth(parent.test)
        if isinstance(parent.test, ast.Constant):
            if bool(parent.test.value) is not (child in body):
                yield parent.test, False
            return
        version = asks_version(parent.test)
        if version is not None and version is not (child in body):
            yield parent.test, False
        if child not in body:
            if isinstance(parent, ast.While):
                return
            passes = None if passes is None else not passes
        yield parent.test, passes

    def _operand(self, child: ast.AST, parent: ast.BoolOp) -> Iterator[Guard]:
        is_and = isinstance(parent.op, ast.And)
        for operand in parent.values:
            if operand is child:
                return
            truth = self._module.truth(operand)
            yield operand, None if truth is None else truth is is_and

    def _decorated(
        self, child: ast.AST, parent: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> Iterator[Guard]:
        if not isinstance(child, ast.stmt):
            return
        for decorator in parent.decorator_list:
            if self._registers_elsewhere(decorator):
                yield decorator, False
            runs = self._module.tests.runs(decorator)
            if runs is not None:
                yield decorator, runs

    def _registers_elsewhere(self, decorator: ast.expr) -> bool:
        """Tell ``@torch.library.impl("my::op", "CUDA")``: the dispatcher sends no TPU there."""
        if not isinstance(decorator, ast.Call) or not self._module.is_named(
            decorator.func, "torch.library.impl", "torch.library.register_kernel"
        ):
            return False
        keys = [getattr(argument, "value", "") for argument in decorator.args[1:]]
        return any(str(key).lower() in {"cuda", "cpu", "mps", "xpu"} for key in keys)

    def _case(self, child: ast.AST, parent: ast.match_case) -> Iterator[Guard]:
        """Iterate over the pattern of ``case "cuda":`` as a test of what is matched."""
        statement = self._module.index.parents[parent]
        if isinstance(child, ast.stmt) and isinstance(statement, ast.Match):
            kinds = _patterns(parent.pattern)
            if kinds:
                yield statement.subject, self._module.is_one_of(statement.subject, kinds)

    def _fallback(self, child: ast.AST, parent: ast.Try) -> Iterator[Guard]:
        """Yield a handler for what an older PyTorch lacks: one for TPUs has it."""
        if isinstance(child, ast.ExceptHandler) and child.type is not None:
            caught = {getattr(n, "id", "") for n in descend(child.type)} - {""}
            body = descend(*parent.body)
            uses = (n for n in body if isinstance(n, ast.Attribute | ast.Name))
            if caught <= _LACKS and any(self._module.is_named(use, *_RECENT) for use in uses):
                yield child, False

    @staticmethod
    def _entry(child: ast.AST, parent: ast.Dict) -> Iterator[Guard]:
        """Yield the key of ``{"cuda": f, "cpu": g}[device.type]`` as a test."""
        kinds = [getattr(key, "value", None) for key in parent.keys]
        known = [kind for kind in kinds if kind in OTHER_DEVICES or kind in {"cpu", "tpu"}]
        for key, value in zip(parent.keys, parent.values, strict=True):
            if value is child and key is not None and len(known) > 1:
                yield key, False if getattr(key, "value", None) in OTHER_DEVICES else None

    def _item(self, child: ast.AST, parent: ast.expr) -> Iterator[Guard]:
        """Yield the index of ``(b, a)[test]`` as a test."""
        subscript = self._module.index.parents.get(parent)
        arms = chosen_by_truth(subscript) if isinstance(subscript, ast.Subscript) else None
        if arms is not None and child in arms.values() and isinstance(subscript, ast.Subscript):
            truth = self._module.truth(subscript.slice)
            yield subscript.slice, None if truth is None else arms[truth] is child

    def _called(
        self, child: ast.AST, function: ast.FunctionDef | ast.AsyncFunctionDef
    ) -> Iterator[Guard]:
        """Yield a dead call of a function that the file calls from dead places only."""
        if not isinstance(child, ast.stmt):
            return
        if function.name == "cuda" and self._module.classes.enclosing(function) is not None:
            # What ``model.cuda()`` does is of no concern where nobody calls it.
            yield function, False
        if not self._is_inner(function):
            return
        if function not in self._inner:
            self._inner[function] = None  # for recursive functions
            sites = self._uses(function)
            if sites and all(self.of(site).dead for site in sites):
                self._inner[function] = sites[0]
        site = self._inner[function]
        if site is not None:
            yield site, False

    def _uses(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
        """Return the calls of a function; where it is passed on too, each use but its own."""
        sites = self._module.calls.only_sites(function)
        if sites or self._module.classes.enclosing(function) is not None:
            return [*sites]
        uses = self._module.index.names.get(function.name, ())
        return [use for use in uses if self._module.context(use).function is not function]

    def _is_inner(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Tell whether nothing outside the file calls a function: private, or of a script."""
        private = function.name.startswith("_") and not function.name.startswith("__")
        return private or self._module.is_script

    def _left_before(self, statement: ast.stmt) -> Iterator[Guard]:
        """Iterate over earlier ``if`` statements of the block that leave it.

        ``raise`` and ``assert`` do not count: they demand CUDA rather than offer another way.
        """
        block = self._module.index.block(statement)
        for place, earlier in self._leaving(block):
            if place >= statement.lineno:
                return
            yield from self._left_by(earlier)

    def _leaving(self, block: list[ast.stmt]) -> list[tuple[int, ast.If]]:
        """Return the ``if`` statements of a block that leave it, with their last lines."""
        key = id(block)
        if key not in self._blocks:
            self._blocks[key] = [
                (one.end_lineno or one.lineno, one)
                for one in block
                if isinstance(one, ast.If) and _leaves(one)
            ]
        return self._blocks[key]

    def _left_by(self, earlier: ast.If) -> Iterator[Guard]:
        truth = self._module.truth(earlier.test)
        if truth is None:
            return
        if isinstance(earlier.body[-1], _LEAVES):
            yield earlier.test, not truth
        if earlier.orelse and isinstance(earlier.orelse[-1], _LEAVES):
            yield earlier.test, truth


def _patterns(pattern: ast.pattern) -> list[ast.expr]:
    """Return the constants of ``"cuda"`` or ``"cuda" | "xpu"``; none for another pattern."""
    if isinstance(pattern, ast.MatchValue):
        return [pattern.value]
    if isinstance(pattern, ast.MatchOr):
        found = [_patterns(one) for one in pattern.patterns]
        return [value for values in found for value in values] if all(found) else []
    return []


def _leaves(node: ast.If) -> bool:
    arms = [node.body, node.orelse] if node.orelse else [node.body]
    return any(isinstance(arm[-1], _LEAVES) for arm in arms)
