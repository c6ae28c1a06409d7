"""Where code stands: in tests, in loops, in what runs each step, or at start-up."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.rules.python.walk import children, descend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.python.module import Module

_TEST_PATH = re.compile(
    r"(?:^|/)(?:tests?|testing|test_utils?|unit_?tests?|integration_tests)/"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_tests?|conftest|testing(?:_utils)?)\.(?:py|ipynb)$"
)
_HOT = frozenset(
    {
        *("forward", "__call__", "backward", "training_step", "validation_step", "test_step"),
        *("predict_step", "train_step", "eval_step", "compute_loss", "generate", "decode_step"),
        *("prefill", "step", "loss_fn", "forward_step", "sample", "inference_step"),
    }
)
"""Functions that run each step, by name."""
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BATCHES = re.compile(r"loader|dataset|batch|iterator|_dl$|step|iteration", re.IGNORECASE)
_STEPS = frozenset({"backward", "zero_grad", "clip_grad_norm_"})
_WHOLE = frozenset({"fit", "fit_one_cycle"})
"""Methods that train from start to end: a loop that calls one turns once a model."""
_CAUGHT = frozenset(
    {"Exception", "BaseException", "ImportError", "ModuleNotFoundError", "RuntimeError"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """Where a node stands."""

    test: bool
    """In a test file."""
    type_checking: bool
    """Under ``if TYPE_CHECKING`` or in an annotation: never runs, or only to be looked up."""
    default: bool
    """In the default of a parameter: the caller may pass another."""
    caught: bool
    """In a ``try`` whose handlers catch import and run-time errors."""
    function: ast.FunctionDef | ast.AsyncFunctionDef | None
    """The innermost function."""
    loop: ast.For | ast.AsyncFor | ast.While | None
    """The innermost loop of that function, comprehensions excepted."""
    loop_depth: int
    """Loops of that function around it, comprehensions included."""
    training: bool
    """In a loop over batches, or one that calls ``backward``."""
    hot: bool
    """Runs each step: in a training loop, ``forward`` or a function that one of these calls."""


def is_test_path(path: str) -> bool:
    """Tell whether a path is a test's."""
    return _TEST_PATH.search(path.replace("\\", "/")) is not None


class Contexts:
    """Tells the context of nodes of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._test = is_test_path(module.path)
        self._hot: dict[ast.AST, bool] = {}
        self._training: dict[ast.AST, bool] = {}

    def of(self, node: ast.AST) -> Context:
        """Return where ``node`` stands."""
        above = self._above(node)
        function = next((n for n in above if isinstance(n, _FUNCTIONS)), None)
        inner = above[: above.index(function)] if function is not None else above
        loops = [n for n in inner if isinstance(n, _LOOPS)]
        training = any(self.is_training(loop) for loop in loops)
        return Context(
            test=self._test,
            type_checking=self._is_for_types(node),
            default=self._is_default(node),
            caught=self._caught(node),
            function=function,
            loop=loops[0] if loops else None,
            loop_depth=sum(isinstance(n, (*_LOOPS, *_COMPREHENSIONS)) for n in inner),
            training=training,
            hot=training or (function is not None and self.is_hot(function)),
        )

    def _above(self, node: ast.AST) -> list[ast.AST]:
        """Return the nodes around ``node``; a loop only around its body."""
        found = []
        child, parent = node, self._module.index.parents.get(node)
        while parent is not None:
            header = isinstance(parent, ast.For | ast.AsyncFor) and child is parent.iter
            if not header:
                found.append(parent)
            child, parent = parent, self._module.index.parents.get(parent)
        return found

    def is_training(self, loop: ast.For | ast.AsyncFor | ast.While) -> bool:
        """Tell whether a loop runs over batches or steps an optimizer."""
        if loop not in self._training:
            called = {
                getattr(n.func, "attr", "") for n in _own_nodes(loop) if isinstance(n, ast.Call)
            }
            over_batches = _over_batches(loop) and not called & _WHOLE
            self._training[loop] = over_batches or bool(called & _STEPS)
        return self._training[loop]

    def is_hot(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Tell whether a function runs each step: by its name, or called by one that does."""
        if function not in self._hot:
            self._hot[function] = False  # for recursive functions
            self._hot[function] = self._is_hot(function)
        return self._hot[function]

    def _is_hot(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        if function.name in _HOT:
            return True
        return any(self.of(site).hot for site in self._module.calls.sites(function))

    def _is_for_types(self, node: ast.AST) -> bool:
        child, parent = node, self._module.index.parents.get(node)
        while parent is not None:
            if child is getattr(parent, "annotation", None):
                return True
            if child is getattr(parent, "returns", None):
                return True
            if isinstance(parent, ast.If) and child in parent.body and _is_type_checking(parent):
                return True
            child, parent = parent, self._module.index.parents.get(parent)
        return False

    def _is_default(self, node: ast.AST) -> bool:
        child: ast.AST | None = node
        while isinstance(child, ast.expr | ast.keyword):
            child = self._module.index.parents.get(child)
        return isinstance(child, ast.arguments)

    def _caught(self, node: ast.AST) -> bool:
        parents = self._module.index.parents
        child, parent = node, parents.get(node)
        while parent is not None and not isinstance(parent, _FUNCTIONS):
            if isinstance(parent, ast.Try) and child in parent.body and _catches(parent):
                return True
            child, parent = parent, parents.get(parent)
        return False


def _own_nodes(loop: ast.AST) -> Iterator[ast.AST]:
    """Iterate over what a loop does itself: an epoch's loop does not do what its batches' does."""
    for node in children(loop):
        if not isinstance(node, (*_LOOPS, *_FUNCTIONS)):
            yield node
            yield from _own_nodes(node)


def _over_batches(loop: ast.For | ast.AsyncFor | ast.While) -> bool:
    if isinstance(loop, ast.While):
        return False
    header = descend(loop.iter, loop.target)
    words = [getattr(n, "attr", getattr(n, "id", "")) for n in header]
    return "config" not in words and any(_BATCHES.search(word) for word in words)


def _catches(node: ast.Try) -> bool:
    return any(
        handler.type is None
        or any(getattr(n, "attr", getattr(n, "id", "")) in _CAUGHT for n in descend(handler.type))
        for handler in node.handlers
    )


def _is_type_checking(node: ast.If) -> bool:
    return getattr(node.test, "attr", getattr(node.test, "id", "")) == "TYPE_CHECKING"
