"""TPA502: dynamic shapes asked of torch.compile."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.compiling.compiled import REFERENCE, argument, compile_calls
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

_STATIC = "torch._dynamo.config.assume_static_by_default"
_MARKS = ("torch._dynamo.mark_dynamic", "torch._dynamo.maybe_mark_dynamic")

RULE = Rule(
    code="TPA502",
    name="dynamic-compile",
    severity=Severity.ERROR,
    words=("dynamic", "mark_dynamic", "maybe_mark_dynamic", "assume_static_by_default"),
    docs=Docs(
        what="Finds `torch.compile(dynamic=True)` and `assume_static_by_default = False`. "
        "`mark_dynamic` is a warning.",
        why="The TPU backend raises `NotImplementedError` for fully dynamic graphs: XLA compiles "
        "static shapes. A dimension marked as dynamic is padded to an upper bound, without flash "
        "attention.",
        example="f = torch.compile(f, dynamic=True)",
        instead="f = torch.compile(f)  # and pad inputs to a few sizes",
        fix_safety="Safe: without the argument PyTorch finds by itself what is dynamic, on CUDA "
        "as on the CPU.",
        references=(
            REFERENCE,
            "https://docs.pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html",
        ),
    ),
    valid=(
        Case("import torch\nf = torch.compile(f, dynamic=False)\n"),
        Case("import torch\nx = trace(f, dynamic=True)\n"),
        Case("import torch\nf = torch.compile(f, dynamic=None)\n"),
        Case("torch._dynamo.config.assume_static_by_default = True\n"),
    ),
    invalid=(
        Case(
            "import torch\nf = torch.compile(f, dynamic=True)\n",
            lines=(2,),
            columns=(30,),
            fixed="import torch\nf = torch.compile(f)\n",
        ),
        Case(
            "from functools import partial\nimport torch\n"
            "@partial(torch.compile, dynamic=True, fullgraph=True)\ndef f(x):\n    return x\n",
            lines=(3,),
            fixed="from functools import partial\nimport torch\n"
            "@partial(torch.compile, fullgraph=True)\ndef f(x):\n    return x\n",
        ),
        Case(
            "import torch\nDYNAMIC = True\ng = torch.compile(dynamic=DYNAMIC, model=m)\n",
            lines=(2,),
        ),
        Case(
            "import torch._dynamo as dynamo\ndynamo.config.assume_static_by_default = False\n",
            lines=(2,),
        ),
        Case(
            "import torch\ntorch._dynamo.mark_dynamic(x, 1)\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
    ),
)


@RULE.module
def calls(module: Module) -> Iterator[Hit]:
    """Find ``dynamic=True``."""
    for call in compile_calls(module):
        for value, inside in argument(call, "dynamic", module):
            for possible in module.value(value):
                if possible.value is True and not module.reach(call).dead:
                    fix = _fix(call, module) if inside and possible.node is value else None
                    yield module.hit(
                        possible.node,
                        "`dynamic=True` raises `NotImplementedError` on a TPU, which compiles "
                        "static shapes",
                        "leave `dynamic` out, and pad inputs to a few sizes",
                        fix=fix,
                    )


def _fix(call: ast.Call, module: Module) -> Fix | None:
    edit = without(call, "dynamic", module)
    return None if edit is None else repair.fix(module, Applicability.SAFE, edit)


@RULE.use(_STATIC)
def static(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find ``assume_static_by_default = False``."""
    statement = module.parent(node)
    if isinstance(statement, ast.Assign) and getattr(statement.value, "value", None) is False:
        yield module.hit(
            statement,
            f"`{name} = False` makes each graph dynamic: compiling raises `NotImplementedError` "
            "on a TPU",
            "leave the setting as it is",
        )


@RULE.call(*_MARKS)
def marks(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find dimensions marked as dynamic."""
    yield module.hit(
        call,
        f"`{name}` pads the dimension to an upper bound on a TPU, and takes attention off the "
        "flash kernel",
        "pad to a few sizes and compile each",
        severity=Severity.WARNING,
    )
