"""TPA213: memory shared between processes by CUDA IPC."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.cuda_api import symbol_text
from tpu_audit.rules.cuda_api.roles import call_of, is_probed
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.devices import SinkKind, is_cuda
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.rules.symbols.table import cuda_symbols, names_of
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_NAMES = names_of("TPA213")

RULE = Rule(
    code="TPA213",
    name="cuda-ipc",
    severity=Severity.ERROR,
    words=("ipc_collect", "share_memory_"),
    docs=Docs(
        what="Finds `torch.cuda.ipc_collect`, and `share_memory_` of a tensor that was just moved "
        "to CUDA.",
        why="`ipc_collect` raises where CUDA is absent. A TPU belongs to one process: what is on "
        "it cannot be shared with another.",
        example="torch.cuda.empty_cache()\ntorch.cuda.ipc_collect()",
        instead="if torch.accelerator.is_available():\n    torch.accelerator.empty_cache()",
        fix_safety="Unsafe: on CUDA, memory of other processes is no longer collected there.",
        references=("https://docs.pytorch.org/docs/stable/multiprocessing.html",),
    ),
    valid=(
        Case("import torch\nx = torch.zeros(3).share_memory_()\n"),
        Case("import torch\nif torch.cuda.is_available():\n    torch.cuda.ipc_collect()\n"),
        Case("import torch\nclean = getattr(torch.xpu, 'ipc_collect', None)\n"),
    ),
    invalid=(
        Case(
            "import torch\nimport gc\ngc.collect()\ntorch.cuda.ipc_collect()\n",
            lines=(4,),
            fixed="import torch\nimport gc\ngc.collect()\n",
        ),
        Case(
            "from torch import cuda\ndef clean(model):\n    del model\n    cuda.ipc_collect()\n",
            lines=(4,),
            fixed="from torch import cuda\ndef clean(model):\n    del model\n",
        ),
        Case("import torch\nshared = torch.zeros(8).to('cuda').share_memory_()\n", lines=(2,)),
        Case("import torch\nmodel.cuda().share_memory_()\n", lines=(2,)),
    ),
)


@RULE.use(*_NAMES)
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find uses of ``ipc_collect``."""
    symbol = cuda_symbols()[name]
    if is_probed(node, "ipc_collect", module):
        return
    call = call_of(node, module)
    statement = module.parent(call) if call is not None else None
    deletes = isinstance(statement, ast.Expr)
    yield module.hit(
        node,
        symbol_text.message(symbol, symbol.name),
        symbol_text.advice(symbol),
        fix=repair.delete(module, statement, Applicability.UNSAFE) if deletes else None,  # type: ignore[arg-type] # an Expr
        severity=symbol_text.severity(symbol, node, module),
    )


@RULE.method("share_memory_")
def check_shared(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find ``x.cuda().share_memory_()``."""
    if _is_on_cuda(receiver, module):
        yield module.hit(
            call,
            "a tensor on a TPU cannot be shared with another process",
            "share a tensor on the CPU, and move it in each process",
            span=module.method_span(call),
        )


def _is_on_cuda(node: ast.expr, module: Module) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if getattr(node.func, "attr", "") == "cuda":
        return True
    return any(
        sink.call is node
        and sink.kind in {SinkKind.TO, SinkKind.KEYWORD}
        and any(map(is_cuda, module.value(sink.node)))
        for sink in module.sinks
    )
