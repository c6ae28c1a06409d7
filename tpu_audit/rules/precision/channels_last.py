"""TPA310: channels_last."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.arguments import without
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

RULE = Rule(
    code="TPA310",
    name="channels-last",
    severity=Severity.INFO,
    words=("channels_last", "channels_last_3d"),
    docs=Docs(
        what="Finds tensors and modules put into the `channels_last` memory format.",
        why="The TPU's compiler chooses the layout; the format asked for brings nothing.",
        example="model = model.to(memory_format=torch.channels_last)",
        instead="model = model  # nothing to write",
        fix_safety="Unsafe: convolutions on CUDA may become slower.",
        references=("https://docs.pytorch.org/docs/stable/tensor_attributes.html",),
    ),
    valid=(
        Case("import torch\nx = x.contiguous()\n"),
        Case('conv = keras.layers.Conv2D(3, 3, data_format="channels_last")\n'),
        Case("import torch\nif x.is_contiguous(memory_format=torch.channels_last):\n    pass\n"),
        Case(
            "import torch\nif torch.cuda.is_available():\n"
            "    m = m.to(memory_format=torch.channels_last)\n"
        ),
    ),
    invalid=(
        Case(
            "import torch\nmodel = net.to(memory_format=torch.channels_last)\n",
            lines=(2,),
            fixed="import torch\nmodel = net\n",
        ),
        Case(
            "import torch as T\nx = x.to(dev, memory_format=T.channels_last)\n",
            lines=(2,),
            fixed="import torch as T\nx = x.to(dev)\n",
        ),
        Case(
            "import torch\nx = (a + b).to(  # one\n    dev,\n"
            "    memory_format=torch.channels_last,\n    copy=True,  # two\n)\n",
            lines=(4,),
            fixed="import torch\nx = (a + b).to(  # one\n    dev,\n    copy=True,  # two\n)\n",
        ),
        Case(
            "from torch import channels_last_3d\n"
            "x = x.contiguous(memory_format=channels_last_3d)\n",
            lines=(2,),
            fixed="from torch import channels_last_3d\nx = x.contiguous()\n",
        ),
    ),
)


@RULE.use("torch.channels_last", "torch.channels_last_3d")
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find calls that take the format."""
    argument = module.parent(node)
    call = module.parent(argument) if isinstance(argument, ast.keyword) else None
    if not isinstance(call, ast.Call) or getattr(call.func, "attr", "") == "is_contiguous":
        return
    yield module.hit(
        node,
        f"`{name}` has no effect on a TPU: its compiler chooses the layout",
        "leave the memory format out",
        fix=_fix(call, module),
    )


def _fix(call: ast.Call, module: Module) -> Fix | None:
    """Write the call without the argument; its receiver where nothing else is asked of it."""
    alone = len(call.args) + len(call.keywords) == 1
    if alone and isinstance(call.func, ast.Attribute) and call.func.attr == "to":
        text = module.code(call.func).rpartition(".")[0].rstrip()
        return repair.fix(module, Applicability.UNSAFE, module.edit(call, text))
    edit = without(call, "memory_format", module)
    return None if edit is None else repair.fix(module, Applicability.UNSAFE, edit)
