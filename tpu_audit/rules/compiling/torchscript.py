"""TPA508: TorchScript."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.upkeep import on_host
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_NAMES = tuple(
    f"torch.jit.{name}"
    for name in (
        *("script", "trace", "trace_module", "freeze", "optimize_for_inference", "load"),
        "ScriptModule",
        "script_method",
    )
)

_TRIES = re.compile(r"^_?test_|torchscript", re.IGNORECASE)
"""Functions that try whether a model can be scripted, or are asked to script it."""

RULE = Rule(
    code="TPA508",
    name="torchscript",
    severity=Severity.WARNING,
    words=("jit",),
    docs=Docs(
        what="Finds TorchScript: `torch.jit.script`, `trace`, `freeze`, `load` and their like.",
        why="TorchScript's fusers and its interpreter do not reach the TPU's compiler: the code "
        "runs op by op at best. PyTorch has deprecated it.",
        example="model = torch.jit.trace(model, example)",
        instead="model = torch.compile(model)  # or torch.export.export(model, (example,))",
        references=(
            "https://docs.pytorch.org/docs/stable/jit.html",
            "https://docs.pytorch.org/docs/stable/export.html",
        ),
    ),
    valid=(
        Case("import torch\nif torch.jit.is_scripting():\n    pass\n"),
        Case("import jax\nf = jax.jit(g)\n"),
        Case("import torch\n@torch.jit.unused\ndef f(x):\n    return x\n"),
        Case("from numba import jit\n@jit\ndef f(x):\n    return x\n"),
        Case("import torch\n@torch.jit.script_if_tracing\ndef f(x):\n    return x\n"),
        Case("import torch\nold = isinstance(m, torch.jit.ScriptModule)\n"),
        Case("import torch\ndef test_module_to_torchscript(m):\n    torch.jit.trace(m, x)\n"),
        Case("import torch\ndef to_torchscript(m):\n    return torch.jit.script(m)\n"),
        Case("import torch\ndef _log_graph(m, x):\n    w.add_graph(torch.jit.trace(m, x), [])\n"),
    ),
    invalid=(
        Case("import torch\nm = torch.jit.script(m)\n", lines=(2,), columns=(5,)),
        Case("import torch\n@torch.jit.script\ndef f(x):\n    return x * 2\n", lines=(2,)),
        Case("from torch import jit as tj\nm = tj.freeze(tj.load(path))\n", lines=(2, 2)),
        Case("import torch\nclass C(torch.jit.ScriptModule):\n    pass\n", lines=(2,)),
        Case("from torch.jit import trace\nm = trace(net, x)\n", lines=(2,)),
    ),
)


@RULE.use(*_NAMES)
def check(node: ast.expr, name: str, module: Module) -> Iterator[Hit]:
    """Find calls and decorators; what exports a model or shows its graph is asked for."""
    asks = module.parent(node)
    if isinstance(asks, ast.Call) and getattr(asks.func, "id", "") == "isinstance":
        return
    function = module.context(node).function
    if function is not None and (on_host(node, module) or _TRIES.search(function.name)):
        return
    yield module.hit(
        node,
        f"`{name}` keeps the code from the TPU's compiler",
        "use `torch.compile`, or `torch.export` to store a model",
    )
