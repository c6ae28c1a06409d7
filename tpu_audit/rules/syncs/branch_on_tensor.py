"""TPA402: control flow that asks a tensor."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.tensors import tensors
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.syncs.each_step import XLA, runs_each_step
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_REDUCED = frozenset({"any", "all", "sum", "max", "min", "mean", "numel", "isnan", "isfinite"})
_QUESTIONS = ("torch.equal", "torch.allclose", "torch.is_nonzero")
_EVALUATES = re.compile(r"not self\.training$|self\.training is False$|self\.training == False$")
_TRACE = re.compile(r"compiling|tracing|export|scripting|is_fake|is_meta")

RULE = Rule(
    code="TPA402",
    name="branch-on-tensor",
    severity=Severity.WARNING,
    words=("torch", "forward", "backward", "training_step"),
    in_tests=None,
    docs=Docs(
        what="Finds `if`, `while`, `assert` and conditional expressions whose test is a tensor, "
        "in code that runs each step.",
        why="The test reads the tensor's value: the host waits for the TPU, and a compiled graph "
        "ends there.",
        example="if (x > 0).all():\n    y = x.log()\nelse:\n    y = x",
        instead="y = torch.where((x > 0).all(), x.log(), x)",
        references=(
            XLA,
            "https://docs.pytorch.org/docs/stable/generated/torch.where.html",
            "https://docs.pytorch.org/docs/stable/cond.html",
        ),
    ),
    valid=(
        Case(
            "import torch\nclass P:\n    def prepare(self, x: torch.Tensor):\n"
            "        frames = len(x)\n        return x * 2, frames\n"
            "    def forward(self, x: torch.Tensor):\n        x, frames = self.prepare(x)\n"
            "        return x[1:] if frames > 0 else x\n"
        ),
        Case(
            "import torch\ndef forward(self, x: torch.Tensor):\n"
            "    if x.dtype == torch.float16 and torch.isinf(x).any():\n"
            "        x = x.clamp(max=60000)\n    if x.dtype == torch.float16:\n"
            "        if x.isnan().any():\n            x = x.nan_to_num()\n    return x\n"
        ),
        Case(
            "import torch\nclass N(torch.nn.Module):\n    def forward(self, x, mask=None):\n"
            "        if mask is not None and x.shape[0] > 1 and x.dim() == 3:\n"
            "            x = x * mask\n        if not torch.is_tensor(x):\n"
            "            return None\n"
            "        return x if self.training else x * 2\n"
        ),
        Case(
            "import torch\ndef forward(self, x: torch.Tensor, n: int):\n    if self.training:\n"
            "        n = torch.ones((x.shape[0],), device=x.device)\n"
            "    for i, layer in enumerate(self.layers):\n"
            "        if self.training is False and i >= n:\n            break\n"
            "        x = layer(x)\n    return x\n"
        ),
        Case(
            "import torch\ndef step(self, kl: torch.Tensor | float | None = None):\n"
            "    if kl > self.limit:\n        self.rate = self.rate / 2\n"
        ),
        Case("import torch\nw = torch.load(p)\nif (w > 0).any():\n    fix(w)\n"),
        Case(
            "import torch\ndef forward(self, ids: torch.Tensor):\n"
            "    if not torch.compiler.is_compiling() and (ids < 0).any():\n"
            "        raise ValueError(ids)\n    return ids\n"
        ),
        Case(
            "import numpy as np\ndef forward(self, x):\n    a = np.array(x)\n"
            "    if (a > 0).all():\n        return a\n"
        ),
    ),
    invalid=(
        Case(
            "import torch\nclass N(torch.nn.Module):\n    def forward(self, x):\n"
            "        if x.sum() > 0:\n            return x\n        return -x\n",
            lines=(4,),
            columns=(12,),
        ),
        Case(
            "import torch\ndef forward(self, ids: torch.Tensor, n: int):\n"
            "    assert torch.all(ids >= 0), 'negative'\n"
            "    while n and not (ids == 0).all():\n        ids = ids - 1\n    return ids\n",
            lines=(3, 4),
        ),
        Case(
            "import torch\nfor x, y in loader:\n    out = model(x.to(device))\n"
            "    loss = torch.nn.functional.mse_loss(out, y)\n"
            "    w = 0.5 if loss > 3 else 1.0\n    (w * loss).backward()\n",
            lines=(5,),
        ),
        Case(
            "for batch in loader:\n    loss = step(batch)\n    while loss > 10:\n"
            "        loss = step(batch)\n    loss.backward()\n",
            lines=(3,),
        ),
        Case(
            "import torch\ndef forward(self, a: torch.Tensor, b: torch.Tensor):\n"
            "    if torch.equal(a, b):\n        return a\n    return b\n",
            lines=(3,),
        ),
    ),
)


@RULE.node(ast.If, ast.While, ast.IfExp, ast.Assert)
def check(node: ast.If | ast.While | ast.IfExp | ast.Assert, module: Module) -> Iterator[Hit]:
    """Find tests that hold a tensor; each operand is judged by itself."""
    leaves = [leaf for leaf in _leaves(node.test) if not isinstance(leaf, ast.Constant)]
    for leaf in leaves:
        if _is_asked(leaf, module) and not _is_left_out(leaf, node.test, module):
            around = isinstance(node, ast.While) and runs_each_step(node, module)
            each = around or runs_each_step(leaf, module)
            if _TRACE.search(module.code(node.test)) or not each:
                return
            yield module.hit(
                leaf,
                "this test reads a tensor each step: the host waits for the TPU, and a compiled "
                "graph breaks",
                "choose with `torch.where`, or check once at start-up",
            )


def _leaves(test: ast.expr) -> Iterator[ast.expr]:
    """Iterate over the operands of ``and``, ``or`` and ``not``."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _leaves(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _leaves(test.operand)
    else:
        yield test


def _is_left_out(leaf: ast.expr, test: ast.expr, module: Module) -> bool:
    """Tell ``not self.training and i >= n`` where ``n`` is a tensor in training alone."""
    if not isinstance(test, ast.BoolOp) or not _EVALUATES.match(module.code(test.values[0])):
        return False
    names = [node for node in descend(leaf) if isinstance(node, ast.Name)]
    return any(
        _is_of_training(binding.node, module)
        for name in names
        for binding in module.scopes.bindings(name)
    )


def _is_of_training(node: ast.AST, module: Module) -> bool:
    parent = module.parent(node)
    while parent is not None:
        if isinstance(parent, ast.If) and module.code(parent.test) == "self.training":
            return True
        parent = module.parent(parent)
    return False


def _is_asked(leaf: ast.expr, module: Module) -> bool:
    """Tell whether the truth of an operand is a tensor's."""
    if not isinstance(leaf, ast.Compare | ast.Call | ast.Name | ast.BinOp | ast.Subscript):
        return False
    if isinstance(leaf, ast.Call) and module.is_named(leaf.func, *_QUESTIONS):
        return any(map(tensors(module).may_be, leaf.args))
    if tensors(module).is_tensor(leaf):
        return not isinstance(leaf, ast.Subscript)
    return tensors(module).may_be(leaf) and any(
        isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _REDUCED
        for node in descend(leaf)
    )
