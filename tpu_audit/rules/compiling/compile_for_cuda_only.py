"""TPA505: compiling on CUDA alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.compiling.compiled import REFERENCE
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

RULE = Rule(
    code="TPA505",
    name="compile-for-cuda-only",
    severity=Severity.INFO,
    words=("compile",),
    where_dead=Severity.INFO,
    docs=Docs(
        what="Finds `torch.compile` under a test that a TPU does not pass, and `disable=` that is "
        "true on one.",
        why="The model runs op by op on a TPU, where whole graphs are what makes it fast.",
        example="if torch.cuda.is_available():\n    model = torch.compile(model)",
        instead="if torch.accelerator.is_available():\n    model = torch.compile(model)",
        references=(REFERENCE, "https://docs.pytorch.org/docs/stable/accelerator.html"),
    ),
    valid=(
        Case("import torch\nif args.compile:\n    model = torch.compile(model)\n"),
        Case("import re, torch\nif torch.cuda.is_available():\n    p = re.compile('x')\n"),
        Case("import torch\nif torch.cuda.is_available():\n    pass\nm = torch.compile(m)\n"),
    ),
    invalid=(
        Case("import torch\nif torch.cuda.is_available():\n    m = torch.compile(m)\n", lines=(3,)),
        Case('import torch\nf = torch.compile(f) if dev.type == "cuda" else f\n', lines=(2,)),
        Case(
            "import torch\n@torch.compile(disable=not torch.cuda.is_available())\n"
            "def f(x):\n    return x\n",
            lines=(2,),
        ),
    ),
)


@RULE.call("torch.compile")
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find calls that a TPU does not reach, or that are switched off there."""
    disable = keyword(call, "disable")
    if module.reach(call).dead or (disable is not None and module.truth(disable) is True):
        yield module.hit(
            call,
            f"a TPU does not come to this `{name}`: the model runs op by op there",
            "compile where `torch.accelerator.is_available()`",
        )
