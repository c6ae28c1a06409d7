"""TPA413: tensors made from Python values each step."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.tensors import tensors
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.syncs.each_step import runs_each_step
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_MAKERS = ("torch.tensor", "torch.as_tensor", "torch.FloatTensor", "torch.LongTensor")
_PLAIN = (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.Load, ast.USub, ast.UAdd)

RULE = Rule(
    code="TPA413",
    name="tensor-from-python",
    severity=Severity.WARNING,
    words=("tensor", "as_tensor", "FloatTensor", "LongTensor"),
    in_tests=None,
    docs=Docs(
        what="Finds `torch.tensor(...)` of constants or of the model's own settings that is put "
        "on a device each step.",
        why="Each step copies the same values from the host to the TPU.",
        example="def forward(self, x):\n    scale = torch.tensor([0.1, 0.2], device=x.device)",
        instead='def __init__(self):\n    self.register_buffer("scale", torch.tensor([0.1, 0.2]))',
        references=("https://docs.pytorch.org/docs/stable/generated/torch.tensor.html",),
    ),
    valid=(
        Case("import torch\nscale = torch.tensor([1.0, 2.0], device=dev)\n"),
        Case("import torch\nfor x in loader:\n    y = torch.tensor(x).to(device)\n"),
        Case("import torch\ndef forward(self, x):\n    return x + torch.tensor(1.0)\n"),
        Case("import torch\ndef forward(self, n):\n    return torch.zeros(n, device=self.dev)\n"),
    ),
    invalid=(
        Case(
            "import torch\ndef forward(self, x):\n"
            "    return x * torch.tensor([0.1, 0.2], device=x.device)\n",
            lines=(3,),
        ),
        Case(
            "import torch as th\nfor x in loader:\n    w = th.tensor([1, 2, 3]).to(device)\n"
            "    loss(x, w).backward()\n",
            lines=(3,),
        ),
        Case(
            "import torch\nclass N(torch.nn.Module):\n    def forward(self, x):\n"
            "        m = torch.as_tensor(self.mean, device=x.device)\n        return x - m\n",
            lines=(4,),
        ),
    ),
)


@RULE.call(*_MAKERS)
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find tensors whose values are the same each step."""
    if not call.args or not _is_same(call.args[0], module) or not _is_moved(call, module):
        return
    if runs_each_step(call, module):
        yield module.hit(
            call,
            f"`{name}` copies the same values from the host to the TPU each step",
            "make the tensor once: `register_buffer`, or before the loop",
        )


def _is_same(node: ast.expr, module: Module) -> bool:
    """Tell whether values are constants, or a setting of the object that is no tensor."""
    if isinstance(node, ast.Attribute):
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return own and not tensors(module).may_be(node) and "device" not in node.attr
    # A number alone becomes a constant of the program.
    many = isinstance(node, ast.List | ast.Tuple) and len(node.elts) > 1
    return many and all(isinstance(part, _PLAIN) for part in descend(node))


def _is_moved(call: ast.Call, module: Module) -> bool:
    """Tell whether the tensor is put on a device that is not the host's."""
    device = keyword(call, "device")
    method = module.parent(call)
    if device is None and isinstance(method, ast.Attribute) and method.attr in {"to", "cuda"}:
        moved = module.parent(method)
        device = moved.args[0] if isinstance(moved, ast.Call) and moved.args else None
    return device is not None and not tensors(module).is_host(device)
