"""TPA309: arithmetic in int64."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.rule import Case, Docs, Rule, Stability
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_ARITHMETIC = (ast.Mult, ast.FloorDiv, ast.Mod, ast.Add, ast.Sub)
_INT64 = ("torch.int64", "torch.long")
_SUMS = frozenset({"cumsum", "cumprod", "prod"})

RULE = Rule(
    code="TPA309",
    name="int64-arithmetic",
    severity=Severity.INFO,
    stability=Stability.PREVIEW,
    words=("long", "int64"),
    docs=Docs(
        what="Finds arithmetic on what was just cast to int64, in code that runs each step.",
        why="A TPU computes 32-bit integers: int64 is emulated in two halves.",
        example="def forward(self, ids):\n    return self.table[ids.long() * self.stride]",
        instead="def forward(self, ids):\n    return self.table[ids.int() * self.stride]",
        references=("https://docs.pytorch.org/docs/stable/tensor_attributes.html",),
    ),
    valid=(
        Case("import torch\ndef forward(self, ids):\n    return self.emb(ids.long())\n"),
        Case("import torch\nn = ids.long() * 2\n"),
        Case("import torch\ndef forward(self, ids):\n    return ids.int() * 2\n"),
    ),
    invalid=(
        Case("def forward(self, ids):\n    return self.t[ids.long() * 2]\n", lines=(2,)),
        Case(
            "import torch\ndef forward(self, m):\n    return 1 + m.to(torch.int64) // 4\n",
            lines=(3,),
        ),
        Case("def forward(self, mask):\n    return mask.long().cumsum(-1)\n", lines=(2,)),
    ),
)


@RULE.method("long")
def method(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find arithmetic on ``x.long()``."""
    if not call.args and not module.is_imported(receiver):
        yield from _judge(call, module)


@RULE.use(*_INT64)
def dtype(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find arithmetic on ``x.to(torch.int64)``."""
    del name
    call = module.parent(node)
    if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in {"to", "type"}:
        yield from _judge(call, module)


def _judge(call: ast.Call, module: Module) -> Iterator[Hit]:
    parent = module.parent(call)
    computes = isinstance(parent, ast.BinOp) and isinstance(parent.op, _ARITHMETIC)
    sums = isinstance(parent, ast.Attribute) and parent.attr in _SUMS
    if (computes or sums) and module.context(call).hot:
        yield module.hit(
            call,
            "int64 arithmetic is emulated in two halves on a TPU",
            "compute in int32 where the values fit",
        )
