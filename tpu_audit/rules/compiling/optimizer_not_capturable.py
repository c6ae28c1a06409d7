"""TPA507: an optimizer's step in compiled code without ``capturable``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.compiling.compiled import compiled_functions
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.arguments import appended
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_OPTIMIZERS = tuple(
    f"torch.optim.{path}"
    for name in ("Adam", "AdamW", "NAdam", "RAdam", "Adamax")
    for path in (name, f"{name.lower()}.{name}")
)

RULE = Rule(
    code="TPA507",
    name="optimizer-not-capturable",
    severity=Severity.ERROR,
    words=("Adam", "AdamW", "NAdam", "RAdam", "Adamax"),
    docs=Docs(
        what="Finds optimizers of the Adam family without `capturable=True` whose `step` is called "
        "in a compiled function.",
        why="Their step counts are CPU tensors then, and the TPU's compiled graphs take no CPU "
        "tensors: compiling the step raises.",
        example="opt = torch.optim.AdamW(model.parameters())\n\n@torch.compile\ndef step(x):\n"
        "    model(x).loss.backward()\n    opt.step()",
        instead="opt = torch.optim.AdamW(\n    model.parameters(), "
        "capturable=torch.accelerator.is_available()\n)",
        fix_safety="Safe: on CUDA the counts move to the device, on the CPU nothing changes.",
        references=("https://docs.pytorch.org/docs/stable/generated/torch.optim.AdamW.html",),
    ),
    valid=(
        Case(
            "import torch\nopt = torch.optim.Adam(p, capturable=True)\n@torch.compile\n"
            "def step(x):\n    opt.step()\n"
        ),
        Case("import torch\nopt = torch.optim.Adam(p)\ndef step(x):\n    opt.step()\n"),
        Case(
            "import torch\nopt = torch.optim.AdamW(p)\n@torch.compile\ndef f(x):\n"
            "    return model(x)\nf(x)\nopt.step()\n"
        ),
    ),
    invalid=(
        Case(
            "import torch\nopt = torch.optim.Adam(p, lr=1e-3)\n@torch.compile\ndef step(x):\n"
            "    loss(x).backward()\n    opt.step()\n",
            lines=(2,),
            fixed="import torch\nopt = torch.optim.Adam(p, lr=1e-3, "
            "capturable=torch.accelerator.is_available())\n@torch.compile\ndef step(x):\n"
            "    loss(x).backward()\n    opt.step()\n",
        ),
        Case(
            "import torch\nfrom torch.optim import AdamW\noptimizer = AdamW(net.parameters())\n"
            "def update():\n    optimizer.step()\nfast = torch.compile(update)\n",
            lines=(3,),
            fixed="import torch\nfrom torch.optim import AdamW\n"
            "optimizer = AdamW(net.parameters(), capturable=torch.accelerator.is_available())\n"
            "def update():\n    optimizer.step()\nfast = torch.compile(update)\n",
        ),
        Case(
            "import torch\no = torch.optim.Adam((p))\n@torch.compile\ndef f():\n    o.step()\n",
            lines=(2,),
            fixed="import torch\n"
            "o = torch.optim.Adam((p), capturable=torch.accelerator.is_available())\n"
            "@torch.compile\ndef f():\n    o.step()\n",
        ),
        Case(
            "import torch\nclass T:\n    def __init__(self, p):\n"
            "        self.opt = torch.optim.NAdam(p)\n"
            "    @torch.compile(fullgraph=False)\n    def step(self):\n        self.opt.step()\n",
            lines=(4,),
        ),
    ),
)


@RULE.module
def check(module: Module) -> Iterator[Hit]:
    """Find the optimizers whose step a compiled function calls."""
    for function in compiled_functions(module):
        for node in descend(function):
            if isinstance(node, ast.Attribute) and node.attr == "step":
                for made in _makers(node.value, module):
                    yield from _judge(made, module)


def _makers(holder: ast.expr, module: Module) -> Iterator[ast.expr]:
    """Iterate over what an optimizer's name or attribute is assigned."""
    if isinstance(holder, ast.Name):
        values = [binding.value for binding in module.scopes.bindings(holder)]
        yield from (value for value in values if value is not None)
    elif isinstance(holder, ast.Attribute):
        yield from module.classes.stored(holder)


def _judge(made: ast.expr, module: Module) -> Iterator[Hit]:
    if not isinstance(made, ast.Call) or not module.is_named(made.func, *_OPTIMIZERS):
        return
    if keyword(made, "capturable") is None:
        yield module.hit(
            made,
            "the compiled step of this optimizer raises on a TPU: its step counts stay on the CPU",
            "pass `capturable=torch.accelerator.is_available()`",
            fix=_fix(made, module),
        )


def _fix(made: ast.Call, module: Module) -> Fix | None:
    text = f"capturable={repair.torch_name(module)}.accelerator.is_available()"
    edit = appended(made, text, module)
    return None if edit is None else repair.fix(module, Applicability.SAFE, edit)
