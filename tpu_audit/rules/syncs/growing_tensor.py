"""TPA409: caches and sequences that grow step by step."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.tensors import tensors
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.syncs.each_step import is_rare
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_CACHE = re.compile(
    r"(?:^|_)(?:past|cache|cached|kv_cache|layer_past|mems)(?:_|$)|^(?:past|prev)_?(?:k|v|key|value)"
)
_JOINS = ("torch.cat", "torch.concat", "torch.concatenate", "torch.hstack", "torch.vstack")

RULE = Rule(
    code="TPA409",
    name="growing-tensor",
    severity=Severity.WARNING,
    words=("cat", "concat", "concatenate", "hstack", "vstack"),
    in_tests=None,
    docs=Docs(
        what="Finds `torch.cat` of a key-value cache with new entries, and loops that join a "
        "tensor with itself: `ids = torch.cat([ids, token])`.",
        why="The shape grows each step: each length is compiled anew on a TPU, seconds a token.",
        example="key = torch.cat([past_key, key], dim=2)",
        instead="cache.index_copy_(2, position, key)  # a cache of fixed length: StaticCache in "
        "transformers",
        references=(
            "https://huggingface.co/docs/transformers/kv_cache",
            "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_copy_.html",
        ),
    ),
    valid=(
        Case("import torch\ndef forward(self, a, b):\n    return torch.cat([a, b], dim=-1)\n"),
        Case(
            "import torch\nfor name in files:\n    parts.append(load(name))\nx = torch.cat(parts)\n"
        ),
        Case("import numpy as np\nfor x in xs:\n    y = np.concatenate([y, x])\n"),
        Case("import torch\nfor f in blocks:\n    x = torch.cat([f(x), skips.pop()], 1)\n"),
    ),
    invalid=(
        Case(
            "import torch\nclass A(torch.nn.Module):\n    def forward(self, k, v, layer_past):\n"
            "        past_key, past_value = layer_past\n"
            "        k = torch.cat((past_key, k), dim=-2)\n        return k\n",
            lines=(5,),
        ),
        Case(
            "import torch\ndef generate(model, ids, n):\n    for _ in range(n):\n"
            "        nxt = model(ids)[:, -1:].argmax(-1)\n"
            "        ids = torch.cat([ids, nxt], dim=1)\n    return ids\n",
            lines=(5,),
        ),
        Case(
            "from torch import cat\nclass M:\n    def update(self, key):\n"
            "        self.key_cache = cat([self.key_cache, key], 1)\n",
            lines=(4,),
        ),
    ),
)


@RULE.call(*_JOINS)
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find joins with what was there before."""
    given = call.args[0] if call.args else keyword(call, "tensors")
    parts = given.elts if isinstance(given, ast.List | ast.Tuple) else []
    if len(parts) < 2 or is_rare(call, module):  # noqa: PLR2004 # a pair
        return
    cached = any(_CACHE.search(_word(part)) for part in parts if _is_held(part, module))
    if cached or _joins_itself(call, parts, module):
        yield module.hit(
            call,
            f"`{name}` makes this tensor longer each step, and a TPU compiles each length anew",
            "write into a tensor of fixed length with `index_copy_`; use transformers' StaticCache",
        )


def _word(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _is_held(node: ast.expr, module: Module) -> bool:
    """Tell whether a part is a variable or attribute, not the result of a call."""
    return not isinstance(node, ast.Call) and not tensors(module).of(node).on_host


def _joins_itself(call: ast.Call, parts: list[ast.expr], module: Module) -> bool:
    """Tell whether a loop assigns the join to one of its parts."""
    statement = module.parent(call)
    loop = module.context(call).loop
    if loop is None or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name | ast.Attribute):
        return False
    text = module.code(target)
    return any(module.code(p) == text for p in parts) and not _is_fresh(target, loop, module)


def _is_fresh(target: ast.expr, loop: ast.stmt, module: Module) -> bool:
    """Tell whether each turn of the loop first gives the name another value."""
    if not isinstance(target, ast.Name):
        return False
    stores = [
        name
        for name in module.index.names.get(target.id, ())
        if isinstance(name.ctx, ast.Store)
        and name is not target
        and loop.lineno <= name.lineno < target.lineno
    ]
    return bool(stores)
