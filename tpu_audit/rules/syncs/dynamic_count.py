"""TPA405: unique, bincount, repeat_interleave each step."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.tensors import Holds, tensors
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.syncs.each_step import SHAPES, runs_each_step
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_WORDS = ("unique", "unique_consecutive", "bincount", "repeat_interleave", "one_hot")
_COUNTS = re.compile(r"(?:^|_)(?:dur|durations?|counts|lengths|lens|nums)$")
"""Names of counts, one for each row."""
_FIXED = {"bincount": "minlength", "repeat_interleave": "output_size", "one_hot": "num_classes"}
"""Function -> the argument that tells it the size of its result."""

RULE = Rule(
    code="TPA405",
    name="dynamic-count",
    severity=Severity.WARNING,
    words=_WORDS,
    in_tests=None,
    docs=Docs(
        what="Finds `unique`, `bincount` without `minlength`, `repeat_interleave` by a tensor "
        "without `output_size` and `one_hot` without `num_classes`, in code that runs each step.",
        why="The size of the result is known on the device only: the host waits for it, and what "
        "follows is compiled anew for each size.",
        example="x = torch.repeat_interleave(x, counts, dim=0)\nc = torch.bincount(experts)",
        instead="x = torch.repeat_interleave(x, counts, dim=0, output_size=total)\n"
        "c = F.one_hot(experts, num_experts).sum(0)",
        references=(
            "https://docs.pytorch.org/docs/stable/generated/torch.repeat_interleave.html",
            SHAPES,
        ),
    ),
    valid=(
        Case("import torch\ndef forward(self, x):\n    return x.repeat_interleave(2, dim=1)\n"),
        Case("import numpy as np\ndef forward(self, x):\n    return np.unique(np.array(x))\n"),
        Case("def step(df):\n    return df.unique()\n"),
        Case("import torch\nclasses = torch.unique(labels)\n"),
        Case(
            "import torch\ndef forward(self, x, n: torch.Tensor):\n"
            "    return torch.repeat_interleave(x, n, dim=0, output_size=self.size)\n"
        ),
    ),
    invalid=(
        Case("import torch\ndef forward(self, x):\n    return torch.unique(x)\n", lines=(3,)),
        Case(
            "import torch\ndef forward(self, x, n: torch.Tensor):\n"
            "    return x.repeat_interleave(n, dim=0)\n",
            lines=(3,),
        ),
        Case(
            "import torch as t\nfrom torch.nn import functional as F\nfor x in loader:\n"
            "    c = t.bincount(model(x).argmax(-1))\n    h = F.one_hot(c)\n"
            "    h.sum().backward()\n",
            lines=(4, 5),
        ),
    ),
)


@RULE.call(*(f"torch.{word}" for word in _WORDS[:-1]), "torch.nn.functional.one_hot")
def calls(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find the functions."""
    word = name.rpartition(".")[2]
    on_host = bool(call.args) and tensors(module).of(call.args[0]).on_host
    repeats = call.args[1] if len(call.args) > 1 else keyword(call, "repeats")
    if not on_host and _is_dynamic(call, word, repeats, len(call.args) > 1, module):
        yield from _judge(call, name, module)


@RULE.method(*_WORDS[:-1])
def methods(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find the methods."""
    word = module.code(call.func).rpartition(".")[2]
    repeats = call.args[0] if call.args else keyword(call, "repeats")
    is_tensor = not module.is_imported(receiver) and tensors(module).may_be(receiver)
    if is_tensor and _is_dynamic(call, word, repeats, bool(call.args), module):
        yield from _judge(call, f"Tensor.{word}", module)


def _is_dynamic(
    call: ast.Call, word: str, repeats: ast.expr | None, positional: bool, module: Module
) -> bool:
    if word in _FIXED and keyword(call, _FIXED[word]) is not None:
        return False
    if word == "repeat_interleave":
        # One argument alone is the counts themselves.
        held = Holds.TENSOR if repeats is None else tensors(module).of(repeats)
        named = isinstance(repeats, ast.Name) and _COUNTS.search(repeats.id) is not None
        return held in {Holds.TENSOR, Holds.LIKELY} or (held is Holds.UNKNOWN and named)
    return word != "one_hot" or not positional


def _judge(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    if runs_each_step(call, module):
        fixed = _FIXED.get(name.rpartition(".")[2])
        yield module.hit(
            call,
            f"the size of what `{name}` returns depends on values: the host waits for it, and "
            "each size is compiled anew",
            f"pass `{fixed}`" if fixed else "compute with sizes that are known",
        )
