"""TPA409: caches and sequences that grow step by step."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.tensors import tensors
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.syncs.each_step import is_rare
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_CACHE = re.compile(
    r"(?:past|prev|cached?|old)_?(?:k|v|key|value|keys|kv)(?:_states?|_layer|_values?|s)?$|layer_past"
    r"|(?:k|v|key|value|kv|keys)_?(?:cache|past|memory)$"
)
_HOLDER = frozenset({"past", "past_kv", "prev_kv", "cache", "kv_cache", "state"})
"""What holds both keys and values, taken out by index."""
_SERIES = re.compile(r"past_values$")
"""A time series, whose past has one length."""
_JOINS = ("torch.cat", "torch.concat", "torch.concatenate", "torch.hstack", "torch.vstack")

_PARTS = re.compile(r"\bndim\b|\.dim\(|self\.(?:num|n)_(?:trees|layers|blocks|stages|heads|levels)")
"""Bounds of loops over dimensions, and over parts of a model: each step is as long."""

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
        Case(
            "import torch\ndef forward(self, x: torch.Tensor):\n"
            "    for i in range(self.num_trees):\n        x = torch.cat([x, self.trees[i](x)], 1)\n"
            "    return x\n"
        ),
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
            "import torch\nclass A(torch.nn.Module):\n    def forward(self, x, past=None):\n"
            "        k = self.key(x)\n        if past is not None:\n"
            "            k = torch.cat([past[0], k], dim=1)\n        return k\n",
            lines=(6,),
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
    cached = any(_is_cache(part, module) for part in parts)
    if cached or _joins_itself(call, parts, module):
        yield module.hit(
            call,
            f"`{name}` makes this tensor longer each step, and a TPU compiles each length anew",
            "write into a tensor of fixed length with `index_copy_`; use transformers' StaticCache",
        )


def _is_cache(node: ast.expr, module: Module) -> bool:
    """Tell whether a part is a cache of keys or values, not a window of one length."""
    if isinstance(node, ast.Call) or tensors(module).of(node).on_host:
        return False
    taken = isinstance(node, ast.Subscript)
    while isinstance(node, ast.Subscript):
        if any(isinstance(part, ast.Slice) for part in descend(node.slice)):
            return False
        node = node.value
    word = str(getattr(node, "attr", getattr(node, "id", "")))
    known = _CACHE.search(word) is not None or (taken and word in _HOLDER)
    return known and not _SERIES.search(word)


def _joins_itself(call: ast.Call, parts: list[ast.expr], module: Module) -> bool:
    """Tell whether a loop, or a method called each step, assigns the join to one of its parts."""
    statement = module.parent(call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    text = module.code(target)
    if not any(module.code(part) == text for part in parts):
        return False
    if isinstance(target, ast.Name):
        loop = module.context(call).loop
        return loop is not None and _is_long(loop, module) and not _is_reset(target, loop, module)
    return isinstance(target, ast.Attribute) and _is_kept(target, module)


def _is_long(loop: ast.For | ast.AsyncFor | ast.While, module: Module) -> bool:
    """Tell whether a loop counts, waits or runs over batches: not one over a model's parts."""
    if isinstance(loop, ast.While):
        return True
    counts = isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", "") == "range"
    if counts and _PARTS.search(module.code(loop.iter)):
        return False
    return counts or module.context(loop.body[0]).training


def _is_reset(target: ast.Name, loop: ast.stmt, module: Module) -> bool:
    """Tell whether the loop gives the name another value too: cut, or made anew each turn."""
    end = loop.end_lineno or loop.lineno
    return any(
        isinstance(name.ctx, ast.Store) and name is not target and loop.lineno <= name.lineno <= end
        for name in module.index.names.get(target.id, ())
    )


def _is_kept(target: ast.Attribute, module: Module) -> bool:
    """Tell whether an attribute of the object grows with each call of a method."""
    function = module.context(target).function
    if function is None or function.name == "__init__" or not isinstance(target.value, ast.Name):
        return False
    stores = [
        store
        for store in module.index.attributes.get(target.attr, ())
        if isinstance(store.ctx, ast.Store) and module.context(store).function is function
    ]
    return target.value.id == "self" and len(stores) == 1
