"""TPA215: settings of cuDNN."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import symbol_text
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import cuda_symbols, names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

RULE = Rule(
    code="TPA215",
    name="cudnn-setting",
    severity=Severity.INFO,
    words=("cudnn",),
    docs=Docs(
        what="Finds settings of `torch.backends.cudnn`: `benchmark`, `deterministic`, `enabled`, "
        "`flags(...)`.",
        why="A TPU does not use cuDNN: they have no effect there, neither on speed nor on "
        "whether two runs agree.",
        example="torch.backends.cudnn.benchmark = True",
        instead="It may stay for CUDA; nothing has to be done for a TPU.",
        references=(
            "https://docs.pytorch.org/docs/stable/backends.html",
            "https://docs.pytorch.org/docs/stable/notes/randomness.html",
        ),
    ),
    valid=(
        Case("import torch\nprint(torch.backends.cudnn.benchmark)\n"),
        Case(
            "import torch\nif torch.cuda.is_available():\n"
            "    torch.backends.cudnn.deterministic = True\n"
        ),
        Case("class S:\n    pass\nS.benchmark = True\n"),
        Case("import torch\ntorch.backends.mkldnn.enabled = False\n"),
    ),
    invalid=(
        Case("import torch\ntorch.backends.cudnn.benchmark = True\n", lines=(2,), columns=(1,)),
        Case(
            "from torch.backends import cudnn\ncudnn.benchmark, cudnn.deterministic = False, "
            "True\n",
            lines=(2, 2),
        ),
        Case("import torch.backends.cudnn as cudnn\ncudnn.enabled &= ok\n", lines=(2,)),
        Case(
            "import torch\nwith torch.backends.cudnn.flags(enabled=False):\n    f()\n", lines=(2,)
        ),
        Case(
            "import torch\ntorch.backends.cudnn.deterministic = True\n",
            filename="tests/test_seed.py",
            lines=(2,),
            severity=Severity.INFO,
        ),
    ),
)


@RULE.use(*names_of("TPA215"))
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find what sets; reading a setting does no harm."""
    parent = module.parent(node)
    called = isinstance(parent, ast.Call) and parent.func is node
    stored = isinstance(getattr(node, "ctx", None), ast.Store)
    if stored or (called and name.endswith("flags")):
        symbol = cuda_symbols()[name]
        yield module.hit(node, symbol_text.message(symbol, symbol.name), symbol_text.advice(symbol))
