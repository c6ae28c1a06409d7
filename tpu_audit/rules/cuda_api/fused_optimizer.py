"""TPA226: fused optimizers for CUDA alone."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_DEPTH = 3

RULE = Rule(
    code="TPA226",
    name="fused-optimizer",
    severity=Severity.INFO,
    words=("fused",),
    docs=Docs(
        what="Finds `fused=` of an optimizer where it is true on CUDA alone.",
        why="TorchTPU has kernels for the fused forms of SGD, Adam, AdamW and Adagrad. A test for "
        "CUDA is false on a TPU, and the slower form is taken.",
        example='optimizer = torch.optim.AdamW(params, fused=device.type == "cuda")',
        instead='optimizer = torch.optim.AdamW(params, fused=device.type != "cpu")',
        references=("https://docs.pytorch.org/docs/stable/optim.html",),
    ),
    valid=(
        Case("import torch\nopt = torch.optim.AdamW(ps, fused=True)\n"),
        Case("import torch\nopt = torch.optim.AdamW(ps, fused=args.fused)\n"),
        Case("import torch\nopt = torch.optim.SGD(ps, lr=0.1, fused=device.type != 'cpu')\n"),
        Case("y = attend(x, fused=device.type == 'cuda')\n"),
        Case("import torch\nuse = False\nopt = torch.optim.AdamW(ps, fused=use)\n"),
    ),
    invalid=(
        Case(
            "import torch\nopt = torch.optim.AdamW(ps, fused=torch.cuda.is_available())\n",
            lines=(2,),
        ),
        Case(
            "from torch.optim import Adam\nopt = Adam(ps, fused=device.type == 'cuda')\n",
            lines=(2,),
        ),
        Case(
            "import torch\nuse_fused = has_fused and device_type == 'cuda'\n"
            "opt = torch.optim.AdamW(groups, lr=1e-3, fused=use_fused)\n",
            lines=(3,),
        ),
        Case(
            "import inspect, torch\nuse = has and device_type == 'cuda'\n"
            "extra = dict(fused=True) if use else dict()\n"
            "opt = torch.optim.AdamW(groups, **extra)\n",
            lines=(3,),
        ),
    ),
)


@RULE.keyword("fused")
def check(argument: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find values that are false on a TPU since they ask for CUDA, and choices of extra options."""
    call = module.parent(argument)
    if not isinstance(call, ast.Call):
        return
    if _is_optimizer(call.func, module):
        told = isinstance(argument.value, ast.Constant)
        missed = (
            not told and module.truth(argument.value) is False and _asks(argument.value, module)
        )
    else:
        missed = (
            getattr(call.func, "id", "") == "dict"
            and isinstance(argument.value, ast.Constant)
            and argument.value.value is True
            and module.reach(argument).dead
        )
    if missed:
        yield module.hit(
            module.parent(call) if module.reach(argument).dead else argument,  # type: ignore[arg-type] # the choice, which is not dead
            "a TPU does not get the fused optimizer here, though it has one",
            "let `fused` depend on the device not being the CPU",
        )


def _is_optimizer(callee: ast.expr, module: Module) -> bool:
    return module.is_named(callee, "torch.optim.*")


def _asks(node: ast.expr, module: Module, depth: int = _DEPTH) -> bool:
    """Tell whether a test is more than a constant: it, or what its variable holds, computes."""
    if isinstance(node, ast.Name) and depth:
        values = [binding.value for binding in module.scopes.bindings(node)]
        return any(value is not None and _asks(value, module, depth - 1) for value in values)
    return not isinstance(node, ast.Constant | ast.Name)
