"""TPA412: slices whose length changes step by step."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.tensor_names import MODEL
from tpu_audit.rules.python.tensors import tensors
from tpu_audit.rules.python.upkeep import on_host
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.syncs.each_step import SHAPES, is_rare
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_FEW = re.compile(r"order|degree|depth|layer|level|stage|scale")
"""Bounds of loops that a model's shape fixes: each step has the same few lengths."""
_COUNTS = frozenset({"range", "enumerate", "count", "trange", "tqdm"})

RULE = Rule(
    code="TPA412",
    name="changing-slice",
    severity=Severity.WARNING,
    words=("torch", "forward", "model"),
    in_tests=None,
    docs=Docs(
        what="Finds slices of tensors with one bound counted up by a loop: `x[:, :t]`.",
        why="Each length is a shape of its own, compiled anew on a TPU.",
        example="for t in range(1, n):\n    h = attend(q[:, t], k[:, :t])",
        instead="steps = torch.arange(n, device=k.device)\nfor t in range(1, n):\n"
        "    h = attend(q[:, t], k, mask=steps < t)",
        references=(SHAPES,),
    ),
    valid=(
        Case(
            "import torch\ndef forward(self, x: torch.Tensor):\n"
            "    for k in range(1, self.spline_order + 1):\n        x = x[:, k + 1 :] * 2\n"
        ),
        Case(
            "import torch\ndef post_process_masks(masks: torch.Tensor, sizes):\n"
            "    for i, size in enumerate(sizes):\n        m = masks[i, : sizes[i]]\n"
            "        out.append(m)\n"
        ),
        Case(
            "import torch\ndef forward(self, x):\n    for i in range(0, 64, 8):\n"
            "        y = x[:, i : i + 8]\n"
        ),
        Case("import torch\ndef forward(self, x, n):\n    return x[:, :n]\n"),
        Case("for i in range(9):\n    part = text[:i]\n"),
        Case(
            "import torch\ndef forward(self, x: torch.Tensor):\n"
            "    for start in range(0, n, size):\n        end = min(start + size, n)\n"
            "        y = self.f(x[start:end], buffer[: end - start])\n"
        ),
        Case("import numpy as np\na = np.zeros(9)\nfor i in range(9):\n    b = a[:i]\n"),
    ),
    invalid=(
        Case(
            "import torch\ndef forward(self, x: torch.Tensor):\n    for t in range(9):\n"
            "        h = self.f(x[:, :t])\n",
            lines=(4,),
        ),
        Case(
            "import torch\ndef decode(model, ids: torch.Tensor):\n    for pos in range(1, 100):\n"
            "        logits = model(ids[:, : pos + 1])\n",
            lines=(4,),
        ),
        Case("for t in range(1, T):\n    out = model(x[:, :t])\n", lines=(2,)),
        Case(
            "import torch\ndef roll(x: torch.Tensor):\n    for i, _ in enumerate(range(5)):\n"
            "        y = x[i:] * x[i:]\n",
            lines=(4, 4),
        ),
    ),
)


@RULE.node(ast.Slice)
def check(node: ast.Slice, module: Module) -> Iterator[Hit]:
    """Find slices with one bound that a loop counts."""
    bounds = [b for b in (node.lower, node.upper) if b is not None]
    if all(isinstance(bound, ast.Constant) for bound in bounds):
        return
    loop = module.context(node).loop
    counters = _counters(loop) if isinstance(loop, ast.For) else set()
    moving = [bound for bound in bounds if _follows(bound, counters, module)]
    holder = module.parent(node)
    holder = module.parent(holder) if isinstance(holder, ast.Tuple) else holder
    if len(moving) != 1 or not isinstance(holder, ast.Subscript):
        return
    if not _identifiers(moving[0]) & counters:
        return
    if (
        (tensors(module).may_be(holder.value) or _goes_to_model(holder, module))
        and not is_rare(node, module)
        and not on_host(node, module)
    ):
        yield module.hit(
            holder,
            f"the length of `{module.code(holder)}` changes each turn, and a TPU compiles each "
            "length anew",
            "keep the whole tensor, and mask what does not count",
        )


def _goes_to_model(node: ast.Subscript, module: Module) -> bool:
    """Tell ``model(x[:, :t])`` where nothing tells what ``x`` is."""
    call = module.parent(node)
    if not isinstance(node.slice, ast.Tuple) or not isinstance(call, ast.Call):
        return False
    word = str(getattr(call.func, "attr", getattr(call.func, "id", "")))
    called = node in call.args and MODEL.search(word) is not None
    return called and module.libraries.may_be_torch


def _counters(loop: ast.For) -> set[str]:
    """Return the names that a loop counts up."""
    callee = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    word = getattr(callee, "attr", getattr(callee, "id", ""))
    if word not in _COUNTS or _FEW.search(_words(loop.iter)):
        return set()
    target = loop.target
    if isinstance(target, ast.Tuple) and word == "enumerate":
        target = target.elts[0]
    return {target.id} if isinstance(target, ast.Name) else set()


def _words(node: ast.expr) -> str:
    parts = (part for part in descend(node) if isinstance(part, ast.Name | ast.Attribute))
    return " ".join(getattr(part, "attr", getattr(part, "id", "")) for part in parts)


def _follows(bound: ast.expr, counters: set[str], module: Module) -> bool:
    """Tell whether a bound moves with a counter; the difference of two that do stays."""
    names = [part for part in descend(bound) if isinstance(part, ast.Name)]
    following = [name for name in names if name.id in counters or _made_of(name, counters, module)]
    return len(following) == 1


def _identifiers(node: ast.expr) -> set[str]:
    return {part.id for part in descend(node) if isinstance(part, ast.Name)}


def _made_of(name: ast.Name, counters: set[str], module: Module, depth: int = 3) -> bool:
    """Tell whether a variable is computed from a counter: ``end = start + size``."""
    values = [binding.value for binding in module.scopes.bindings(name)]
    names = [n for v in values if v is not None for n in descend(v) if isinstance(n, ast.Name)]
    return any(
        part.id in counters or (depth > 0 and _made_of(part, counters, module, depth - 1))
        for part in names
        if part.id != name.id
    )
