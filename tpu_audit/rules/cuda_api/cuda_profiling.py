"""TPA209: NVIDIA's profiling tools."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import symbol_text
from tpu_audit.rules.cuda_api.roles import call_of, is_type_test
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import cuda_symbols, names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_NAMES = names_of("TPA209")
_ACTIVITY = "torch.profiler.ProfilerActivity.CUDA"

RULE = Rule(
    code="TPA209",
    name="cuda-profiling",
    severity=Severity.ERROR,
    words=("cuda", "emit_nvtx", "ProfilerActivity"),
    docs=Docs(
        what="Finds `torch.cuda.nvtx`, `torch.cuda.profiler`, `emit_nvtx`, `torch.cuda.cudart` and "
        "`ProfilerActivity.CUDA`.",
        why="NVTX and CUDA's profiler raise where CUDA is absent, and `ProfilerActivity.CUDA` "
        "records nothing on a TPU. `torch.profiler` takes TorchTPU as a device of its own; XProf "
        "shows what the chip did.",
        example='torch.cuda.nvtx.range_push("forward")\ny = model(x)\ntorch.cuda.nvtx.range_pop()',
        instead='with torch.profiler.record_function("forward"):\n    y = model(x)',
        fix_safety="Unsafe: on CUDA the marks are no longer in NVIDIA's profiler.",
        references=(
            "https://docs.pytorch.org/docs/stable/profiler.html",
            "https://openxla.org/xprof",
        ),
    ),
    valid=(
        Case("import torch\nwith torch.profiler.record_function('step'):\n    f()\n"),
        Case(
            "import torch\nfrom torch.profiler import ProfilerActivity\n"
            "acts = [ProfilerActivity.CPU]\n"
        ),
        Case("import torch\nif torch.cuda.is_available():\n    torch.cuda.nvtx.mark('x')\n"),
        Case("class profiler:\n    @staticmethod\n    def start(): ...\nprofiler.start()\n"),
    ),
    invalid=(
        Case(
            "import torch\nfor i in range(9):\n    torch.cuda.nvtx.range_push(f'step{i}')\n"
            "    f()\n    torch.cuda.nvtx.range_pop()\n",
            lines=(3, 5),
            fixed="import torch\nfor i in range(9):\n    f()\n",
        ),
        Case(
            "import torch\nfrom torch.cuda import nvtx\nwith nvtx.range('forward'):\n    f()\n",
            lines=(3,),
            fixed="import torch\nfrom torch.cuda import nvtx\n"
            "with torch.profiler.record_function('forward'):\n    f()\n",
        ),
        Case(
            "import torch\ntorch.cuda.cudart().cudaProfilerStart()\nstep()\n"
            "torch.cuda.profiler.stop()\n",
            lines=(2, 4),
            fixed="import torch\nstep()\n",
        ),
        Case("import torch\nwith torch.autograd.profiler.emit_nvtx():\n    f()\n", lines=(2,)),
        Case(
            "from torch.profiler import profile, ProfilerActivity as A\n"
            "with profile(activities=[A.CPU, A.CUDA]) as prof:\n    f()\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
    ),
)


@RULE.use(*_NAMES)
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find uses of NVTX, of CUDA's profiler and of its runtime."""
    symbol = cuda_symbols()[name]
    if is_type_test(node, module):
        return
    yield module.hit(
        node,
        symbol_text.message(symbol, symbol.name),
        symbol_text.advice(symbol),
        fix=_fix(node, name, module),
        severity=symbol_text.severity(symbol, node, module),
    )


@RULE.use(_ACTIVITY)
def check_activity(node: ast.expr, _: str, module: Module) -> Iterator[Hit]:
    """Find the activity of CUDA among those to record; a comparison records nothing."""
    if isinstance(module.parent(node), ast.Compare):
        return
    yield module.hit(
        node,
        "`ProfilerActivity.CUDA` records nothing on a TPU",
        "record `ProfilerActivity.PrivateUse1`, which is TorchTPU's",
        severity=Severity.WARNING,
    )


def _fix(node: ast.expr, name: str, module: Module) -> Fix | None:
    """Rewrite a ranged ``with``; delete a statement."""
    call = call_of(node, module)
    if name == "torch.cuda.nvtx.range" and call is not None and len(call.args) == 1:
        new = f"{repair.torch_name(module)}.profiler.record_function"
        return repair.fix(module, Applicability.UNSAFE, module.edit(node, new))
    outer: ast.AST | None = node
    while isinstance(outer, ast.Attribute | ast.Call):
        outer = module.parent(outer)
    if isinstance(outer, ast.Expr):
        return repair.delete(module, outer, Applicability.UNSAFE)
    return None
