"""TPA227: names of ``torch.cuda`` that no other rule is about."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import symbol_text
from tpu_audit.rules.cuda_api.roles import is_probed, is_type_test
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import OnTpu, cuda_symbols, names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_HARMLESS = frozenset({OnTpu.WORKS})
_NAMES = tuple(n for n in names_of("") if cuda_symbols()[n].on_tpu not in _HARMLESS)

RULE = Rule(
    code="TPA227",
    name="torch-cuda-name",
    severity=Severity.ERROR,
    words=("cuda", "cudnn"),
    docs=Docs(
        what="Finds the names of `torch.cuda` and `torch.backends.cuda` that have no rule of their "
        "own: `torch.cuda.init`, `device`, `set_sync_debug_mode`, `comm`, `tunable`, `jiterator`, "
        "`cufft_plan_cache` and others.",
        why="What they do needs CUDA: most raise on a TPU, some answer as if there were no device, "
        "and settings do nothing.",
        example="torch.cuda.init()\nrun()",
        instead="run()",
        references=(
            "https://docs.pytorch.org/docs/stable/cuda.html",
            "https://docs.pytorch.org/docs/stable/accelerator.html",
        ),
    ),
    valid=(
        Case("import torch\ntorch.accelerator.set_device_index(0)\n"),
        Case("import torch\nif torch.cuda.is_available():\n    torch.cuda.init()\n"),
        Case("import numba.cuda as cuda\nwith cuda.device(0):\n    pass\ncuda.init()\n"),
        Case("import torch\nif hasattr(torch.cuda, 'tunable'):\n    torch.cuda.tunable.enable()\n"),
        Case("import torch\nwith torch.cuda.device(0):\n    f()\n"),
    ),
    invalid=(
        Case("import torch\nplace = torch.cuda.device(1)\n", lines=(2,), columns=(9,)),
        Case(
            "from torch import cuda as c\nc.init()\nc.set_sync_debug_mode('warn')\n", lines=(2, 3)
        ),
        Case("import torch.cuda.comm as comm\nparts = comm.scatter(x, [0, 1])\n", lines=(2,)),
        Case(
            "import torch\ntorch.backends.cuda.preferred_linalg_library('magma')\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case("import torch\ntorch.backends.cuda.cufft_plan_cache.max_size = 8\n", lines=(2,)),
        Case(
            "import torch\nif torch.cuda.is_initialized():\n    stop()\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\nok = torch.backends.cudnn.is_acceptable(x)\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
    ),
)


@RULE.use(*_NAMES)
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find uses of names that raise, or answer wrongly outside a test."""
    symbol = cuda_symbols()[name]
    probed = any(is_probed(node, word, module) for word in name.split(".")[2:])
    if probed or is_type_test(node, module) or _is_block(node, name, module):
        return
    # Other rules judge arms by these tests: what matters is found there.
    known = module.truth(node) is not None
    yield module.hit(
        node,
        symbol_text.message(symbol, symbol.name),
        symbol_text.advice(symbol),
        severity=Severity.INFO if known else symbol_text.severity(symbol, node, module),
    )


def _is_block(node: ast.expr, name: str, module: Module) -> bool:
    """Tell ``with torch.cuda.device(...)``, which the rule on set devices has."""
    call = module.parent(node)
    head = isinstance(call, ast.Call) and isinstance(module.parent(call), ast.withitem)
    return head and name in {"torch.cuda.device", "torch.cuda.device_of"}
