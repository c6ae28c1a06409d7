"""TPA414: sizes read from tensors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python.tensors import Holds, tensors
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.syncs.each_step import SHAPES, XLA, runs_each_step
from tpu_audit.rules.syncs.sizes import SIZED, is_size
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_REDUCED = frozenset({"max", "min", "sum", "amax", "amin"})

RULE = Rule(
    code="TPA414",
    name="size-from-tensor",
    severity=Severity.WARNING,
    words=("item", "tolist", "max", "sum", "amax", "int"),
    in_tests=None,
    docs=Docs(
        what="Finds sizes and bounds of slices that are read from a tensor each step: "
        "`torch.arange(lengths.max())`, `x[:, :n.item()]`.",
        why="The host waits for the value, and each new size is compiled anew on a TPU.",
        example="mask = torch.arange(lengths.max().item()) < lengths[:, None]",
        instead="mask = torch.arange(x.shape[1], device=x.device) < lengths[:, None]",
        references=(SHAPES, XLA),
    ),
    valid=(
        Case("import torch\ndef forward(self, x):\n    return torch.zeros(x.shape[0])\n"),
        Case("import torch\nn = torch.load(p)['n'].item()\nx = torch.zeros(n)\n"),
        Case(
            "import torch\ndef forward(self, x):\n    n = max(self.sizes)\n"
            "    return x.view(n, -1)\n"
        ),
        Case("import torch\nfor x in loader:\n    total += model(x).loss.item()\n"),
    ),
    invalid=(
        Case(
            "import torch\ndef forward(self, x, lengths):\n"
            "    steps = torch.arange(lengths.max(), device=x.device)\n    return steps\n",
            lines=(3,),
        ),
        Case(
            "import torch\ndef forward(self, x: torch.Tensor, lengths: torch.Tensor):\n"
            "    longest = int(lengths.max())\n    return x[:, :longest]\n",
            lines=(3,),
        ),
        Case(
            "import torch\nimport torch.nn.functional as F\nclass N(torch.nn.Module):\n"
            "    def forward(self, x, lengths):\n        n = lengths.sum().item()\n"
            "        h = x.new_zeros(n, 4)\n        return F.pad(h, (0, n))\n",
            lines=(5,),
        ),
    ),
)


@RULE.method("item", "tolist")
def reads(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find sizes read with ``.item()``."""
    if tensors(module).may_be(receiver) and is_size(call, module):
        yield from _judge(call, module)


@RULE.module
def casts(module: Module) -> Iterator[Hit]:
    """Find sizes read with ``int(...)``."""
    for name in module.index.names.get("int", ()):
        call = module.parent(name)
        reads = isinstance(call, ast.Call) and call.func is name and len(call.args) == 1
        if not reads or not isinstance(call, ast.Call):
            continue
        if tensors(module).may_be(call.args[0]) and is_size(call, module):
            yield from _judge(call, module)


@RULE.method(*_REDUCED)
def tensors_as_sizes(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find reduced tensors that are sizes as they are."""
    user = module.parent(call)
    if isinstance(user, ast.BinOp):
        user = module.parent(user)
    if not isinstance(user, ast.Call) or call is user.func or call.args or call.keywords:
        return
    word = getattr(user.func, "attr", "")
    makes = word in SIZED - {"pad", "full", "new_full"} and module.is_named(user.func, "torch.*")
    held = tensors(module).of(receiver)
    if makes and held in {Holds.TENSOR, Holds.LIKELY}:
        yield from _judge(call, module)


def _judge(call: ast.Call, module: Module) -> Iterator[Hit]:
    if runs_each_step(call, module):
        yield module.hit(
            call,
            "this size is read from a tensor each step: the host waits for it, and each new size "
            "is compiled anew on a TPU",
            "take sizes from shapes or settings, and mask what does not count",
        )
