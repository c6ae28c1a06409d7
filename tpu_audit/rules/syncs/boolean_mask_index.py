"""TPA404: indexing by a boolean mask each step."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python.tensors import Holds, tensors
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.syncs.each_step import SHAPES, XLA, runs_each_step
from tpu_audit.rules.syncs.masks import is_mask
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

RULE = Rule(
    code="TPA404",
    name="boolean-mask-index",
    severity=Severity.WARNING,
    words=("torch", "forward", "backward", "masked_select", "training_step"),
    in_tests=None,
    docs=Docs(
        what="Finds `x[mask]`, `x[mask] = y` and `masked_select` in code that runs each step.",
        why="How many elements the mask takes is known on the device only: the host waits for the "
        "count, and what follows is compiled anew for each count, seconds each.",
        example="loss = per_token[labels != -100].mean()\nx[mask] = 0",
        instead="keep = labels != -100\nloss = (per_token * keep).sum() / keep.sum()\n"
        "x = x.masked_fill(mask, 0)",
        references=(
            "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill_.html",
            SHAPES,
            XLA,
        ),
    ),
    valid=(
        Case(
            "import torch\ndef forward(self, x: torch.Tensor, attention_mask: torch.Tensor):\n"
            "    cls_mask = attention_mask.argmax(dim=-1)\n    return x[rows, cls_mask]\n"
        ),
        Case(
            "import torch\ndef forward(self, x: torch.Tensor, mask: torch.Tensor):\n"
            "    x[mask] = self.mask_emb.to(x.dtype)\n    return x\n"
        ),
        Case(
            "import torch\ndef forward(self, x: torch.Tensor):\n"
            "    return x[:, torch.arange(x.shape[1]) != self.cls_position, :]\n"
        ),
        Case(
            "import torch\ndef forward(self, x: torch.Tensor, mask: torch.Tensor):\n"
            "    x[mask] = 0\n    x[x.isnan()] = -torch.inf\n    x[~mask] = self.pad_value\n"
            "    return x\n"
        ),
        Case(
            "import torch\ndef forward(self, x: torch.Tensor, fg_mask: torch.Tensor):\n"
            "    fg_mask = fg_mask.nonzero(as_tuple=True)\n    return x[fg_mask].sum()\n"
        ),
        Case("import torch\ndef forward(self, x, i):\n    return x[i], x[:, 1:], x[x.argmax()]\n"),
        Case("import pandas as pd\ndef step(df):\n    return df[df.x > 0]\n"),
        Case(
            "import numpy as np\ndef forward(self, x):\n    a = np.array(x)\n    return a[a > 0]\n"
        ),
        Case("import torch\nw = torch.load(p)\nw[w < 0] = 0\n"),
        Case("import torch\ndef forward(self, x):\n    return x.masked_fill(x < 0, 0)\n"),
    ),
    invalid=(
        Case(
            "import torch\nclass N(torch.nn.Module):\n    def forward(self, x):\n"
            "        return x[x > 0].mean()\n",
            lines=(4,),
        ),
        Case(
            "import torch\ndef forward(self, hidden_states, images, image_mask):\n"
            "    hidden_states[image_mask] = images\n    return hidden_states\n",
            lines=(3,),
        ),
        Case(
            "import torch\nfor x, y in loader:\n    out = model(x)\n    keep = ~(y == -100)\n"
            "    loss = out[keep].sum()\n    loss.backward()\n",
            lines=(5,),
        ),
        Case(
            "import torch\ndef forward(self, x, m):\n    return torch.masked_select(x, m)\n",
            lines=(3,),
        ),
    ),
)


@RULE.node(ast.Subscript)
def subscripts(node: ast.Subscript, module: Module) -> Iterator[Hit]:
    """Find masks as indices of tensors."""
    index = node.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if any(isinstance(part, ast.Constant) and part.value.__class__ is str for part in parts):
        return
    masks = (part for part in parts if is_mask(part, module))
    if _is_filled(node, module):
        return
    if any(masks) and tensors(module).may_be(node.value) and runs_each_step(node, module):
        stored = isinstance(node.ctx, ast.Store)
        yield module.hit(
            node,
            "indexing by a mask makes the host wait for the count, and compiles anew for each",
            "use `torch.where` with values of the full shape"
            if stored
            else "multiply by the mask, or use `torch.where`",
        )


def _is_filled(node: ast.Subscript, module: Module) -> bool:
    """Tell ``x[mask] = 0``: TorchTPU fills by the mask itself, and nothing waits for a count."""
    statement = module.parent(node)
    if not isinstance(statement, ast.Assign) or node not in statement.targets:
        return False
    held = tensors(module).of(statement.value)
    single = isinstance(statement.value, ast.Call) and module.is_named(
        statement.value.func, "torch.tensor"
    )
    return single or held in {Holds.OTHER, Holds.UNKNOWN} or _is_one(statement.value, module)


def _is_one(value: ast.expr, module: Module) -> bool:
    """Tell what is the same whatever the mask: a parameter of the object, a new tensor."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if module.is_named(value.func, "torch.eye", "torch.zeros_like"):
            return True
        value = value.func.value
    return isinstance(value, ast.Attribute) and getattr(value.value, "id", "") == "self"


@RULE.call("torch.masked_select")
def calls(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find ``torch.masked_select``."""
    on_host = bool(call.args) and tensors(module).of(call.args[0]).on_host
    if not on_host and runs_each_step(call, module):
        yield _selected(call, name, module)


@RULE.method("masked_select")
def methods(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find ``x.masked_select``."""
    called = module.is_named(call.func, "torch.masked_select")
    on_host = tensors(module).of(receiver).on_host
    if not called and not on_host and runs_each_step(call, module):
        yield _selected(call, "Tensor.masked_select", module)


def _selected(call: ast.Call, name: str, module: Module) -> Hit:
    return module.hit(
        call,
        f"the shape of `{name}` depends on values: the host waits, and each count is compiled anew",
        "multiply by the mask, or use `torch.where`",
    )
