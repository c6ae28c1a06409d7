"""TPA302: GradScaler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.precision.dtypes import AMP, is_wished
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.devices import is_cuda
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_SHARDED = "torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler"

_RAISES = "a `GradScaler` step raises on a TPU: the ops that unscale gradients have no kernel there"
_OFF = "a `GradScaler` for CUDA switches itself off on a TPU: float16 gradients are not scaled"

RULE = Rule(
    code="TPA302",
    name="grad-scaler",
    severity=Severity.ERROR,
    words=("GradScaler", "ShardedGradScaler"),
    docs=Docs(
        what="Finds `GradScaler` in all its spellings, unless it is switched off. A warning where "
        "it is for CUDA, and where a setting that the file does not tell decides.",
        why="A scaler for CUDA warns and switches itself off where there is no CUDA. For a TPU's "
        "device `_amp_foreach_non_finite_check_and_unscale_` and `_amp_update_scale_` have no "
        "kernel: `scaler.step` raises. bfloat16 has float32's range and needs no scaling.",
        example="scaler = torch.cuda.amp.GradScaler()\nscaler.scale(loss).backward()\n"
        "scaler.step(optimizer)\nscaler.update()",
        instead="loss.backward()\noptimizer.step()  # under autocast with dtype=torch.bfloat16",
        fix_safety="Unsafe: float16 training on CUDA loses its loss scaling.",
        references=(AMP,),
    ),
    valid=(
        Case("import torch\nscaler = torch.amp.GradScaler(enabled=False)\n"),
        Case(
            "import torch\nfrom torch.amp import GradScaler\n"
            'scaler = GradScaler("cuda", enabled=torch.cuda.is_available())\n'
        ),
        Case("from mylib.scale import GradScaler\nscaler = GradScaler()\n"),
        Case("def wrap(scaler: 'torch.cuda.amp.GradScaler') -> None:\n    scaler.update()\n"),
    ),
    invalid=(
        Case(
            "import torch\nscaler = torch.cuda.amp.GradScaler()\n",
            lines=(2,),
            columns=(10,),
            severity=Severity.WARNING,
            fixed="import torch\nscaler = torch.amp.GradScaler(enabled=False)\n",
        ),
        Case(
            "import torch\nfrom torch.cuda import amp\n"
            "class T:\n    def __init__(self):\n        self.s = amp.GradScaler(init_scale=2.0)\n",
            lines=(5,),
        ),
        Case(
            'import torch\nscaler = torch.amp.GradScaler(device="cuda", enabled=cfg.fp16)\n',
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler\n"
            "scaler = ShardedGradScaler()\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "import torch\nif args.fp16:\n    scaler = torch.amp.GradScaler()\n",
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case("import torch as t\nscaler = t.GradScaler('cuda')\n", lines=(2,)),
        Case(
            "import torch\na = torch.amp.GradScaler(device.type)\n"
            "b = torch.GradScaler(device=device)\n",
            lines=(2, 3),
            severity=Severity.ERROR,
        ),
        Case("from torch.cuda.amp import *\nscaler = GradScaler()\n", lines=(2,)),
    ),
)


@RULE.call("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.GradScaler", _SHARDED)
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find scalers that are not certainly off on a TPU."""
    severity = _severity(keyword(call, "enabled"), module)
    if severity is None:
        return
    of_cuda = _is_of_cuda(call, name, module)
    if of_cuda or is_wished(call, module) or any(k.arg is None for k in call.keywords):
        severity = Severity.WARNING
    text = f"{repair.torch_name(module)}.amp.GradScaler(enabled=False)"
    edit = module.edit(call, text)
    yield module.hit(
        call,
        _OFF if of_cuda else _RAISES,
        "train in bfloat16 without a scaler",
        fix=None if name == _SHARDED else repair.fix(module, Applicability.UNSAFE, edit),
        severity=severity,
    )


def _is_of_cuda(call: ast.Call, name: str, module: Module) -> bool:
    """Tell a scaler for CUDA, which is the default."""
    device = keyword(call, "device")
    if device is None and call.args and name.startswith(("torch.amp.", "torch.GradScaler")):
        device = call.args[0]
    if device is None:
        return True
    values = module.value(device)
    return values.complete and all(map(is_cuda, values))


def _severity(enabled: ast.expr | None, module: Module) -> Severity | None:
    """Judge ``enabled=``: error if on, warning if it is not known, None if off."""
    if enabled is None:
        return Severity.ERROR
    if module.truth(enabled) is False:
        return None
    values = module.value(enabled)
    truths = {bool(possible.value) for possible in values}
    if values.complete and truths == {False}:
        return None
    return Severity.ERROR if values.complete and truths == {True} else Severity.WARNING
