"""TPA117: choosing a process's device by its index."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.devices.literals import is_of_cuda
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module
_RANK = re.compile(r"rank|gpu|device_?id|index", re.IGNORECASE)

RULE = Rule(
    code="TPA117",
    name="set-device-index",
    severity=Severity.ERROR,
    words=("set_device", "set_device_index", "set_device_idx", "cuda"),
    docs=Docs(
        what="Finds `torch.cuda.set_device`, `torch.tpu.set_device`, "
        "`torch.accelerator.set_device_index` and `with torch.cuda.device(...)`.",
        why="`torch.cuda.set_device` does not exist where PyTorch is built without CUDA, and "
        "`torch.tpu.set_device` raises for code that is not TorchTPU's own. A process on a TPU "
        "sees one device, so that there is nothing to choose: an index above 0 is refused.",
        example="torch.cuda.set_device(local_rank)\nmodel = model.to(device)",
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")\n'
        "model = model.to(device)",
        fix_safety="Unsafe: on a CUDA host with several processes, each then needs a device of "
        "its own by other means, such as its visible devices.",
        references=(
            "https://docs.pytorch.org/docs/stable/accelerator.html",
            "https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_device.html",
        ),
    ),
    valid=(
        Case(
            "import torch\ndef bind(kind, local_rank):\n"
            "    rank = 0 if kind == 'tpu' else local_rank\n"
            "    torch.accelerator.set_device_index(rank)\n"
        ),
        Case("import torch\nif torch.cuda.is_available():\n    torch.cuda.set_device(rank)\n"),
        Case("import cupy\ncupy.cuda.set_device(1)\nmixer.set_device(2)\n"),
        Case("import torch\ntorch.accelerator.set_device_index(0)\n"),
        Case(
            "import torch\ndef set_dev(device):\n    if device.startswith('cuda:'):\n"
            "        torch.cuda.set_device(device)\n"
        ),
        Case("import torch\nd = torch.device(0)\n"),
        Case("import torch\ntorch.accelerator.set_device_index(device)\n"),
        Case('import torch\nmod = getattr(torch, kind or "cuda")\nmod.set_device(0)\n'),
    ),
    invalid=(
        Case(
            "import torch\nwith torch.cuda.device_of(x):\n    y = run(x)\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "import torch\ntorch.cuda.set_device(rank)\nx = 1\n",
            lines=(2,),
            columns=(1,),
            fixed="import torch\nx = 1\n",
        ),
        Case(
            "from torch.cuda import set_device as pick\ndef setup(rank):\n    pick(rank)\n",
            lines=(3,),
            fixed="from torch.cuda import set_device as pick\ndef setup(rank):\n    pass\n",
        ),
        Case("import torch as th\nth.tpu.set_device(0)\ny = 2\n", lines=(2,)),
        Case("import torch\nwith torch.cuda.device(1):\n    run()\n", lines=(2,)),
        Case(
            "import torch\ntorch.accelerator.set_device_index(local_rank)\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
    ),
)


@RULE.call("torch.cuda.set_device", "torch.tpu.set_device")
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find the calls; those of a module picked by a variable are another rule's."""
    if is_of_cuda(call, module) or not _is_literal(call.func, module):
        return
    statement = module.parent(call)
    alone = isinstance(statement, ast.Expr)
    yield module.hit(
        call,
        f"`{name}` raises on a TPU, where a process has one device",
        "delete the call",
        fix=repair.delete(module, statement, Applicability.UNSAFE)
        if alone and isinstance(statement, ast.stmt)
        else None,
    )


@RULE.call("torch.cuda.device", "torch.cuda.device_of")
def check_block(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find ``with torch.cuda.device(...)``; that of a tensor not on CUDA does nothing."""
    follows = name.endswith("device_of")
    effect = "does nothing" if follows else "raises"
    if isinstance(module.parent(call), ast.withitem) and not is_of_cuda(call, module):
        yield module.hit(
            call,
            f"`with {name}(...)` {effect} on a TPU, where a process has one device",
            "delete the block's head",
            severity=Severity.INFO if follows else None,
        )


@RULE.call("torch.accelerator.set_device_index", "torch.accelerator.set_device_idx")
def check_index(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find indices other than 0."""
    index = call.args[0] if call.args else None
    if index is not None and _is_rank(index, module) and not _knows_tpu(call, module):
        yield module.hit(
            call,
            f"`{name}` refuses any index but 0 on a TPU, where a process has one device",
            "call it only where there are several devices",
            severity=Severity.WARNING,
        )


def _knows_tpu(call: ast.Call, module: Module) -> bool:
    """Tell whether the function around a call asks for a TPU by name."""
    around = module.context(call).function
    nodes = descend(around) if around is not None else []
    return any(isinstance(n, ast.Constant) and n.value == "tpu" for n in nodes)


def _is_literal(callee: ast.expr, module: Module) -> bool:
    """Tell ``torch.cuda.set_device``, imported under whatever name, from ``backend.set_device``."""
    while isinstance(callee, ast.Attribute):
        callee = callee.value
    if not isinstance(callee, ast.Name):
        return False
    bindings = module.scopes.bindings(callee)
    return all(isinstance(binding.node, ast.alias) for binding in bindings)


def _is_rank(index: ast.expr, module: Module) -> bool:
    """Tell an index that is not 0 in every process: a rank, or a number above 0."""
    word = str(getattr(index, "attr", getattr(index, "id", "")))
    above = any(type(p.value) is int and p.value > 0 for p in module.value(index))
    return above or _RANK.search(word) is not None
