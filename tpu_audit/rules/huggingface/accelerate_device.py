"""TPA716: accelerate, whose device on a TorchTPU host is the CPU."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.huggingface.trainers import ACCELERATE
from tpu_audit.rules.python.options import keyword as argument
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_KNOWN = "is_torch_tpu_available"
"""A file that asks for TorchTPU itself chooses the device itself."""

RULE = Rule(
    code="TPA716",
    name="accelerate-device",
    severity=Severity.WARNING,
    words=("Accelerator", "PartialState"),
    docs=Docs(
        what="Finds `Accelerator()` and `PartialState()` of accelerate.",
        why="accelerate asks for MPS, CUDA and other devices by name, and for TPUs through "
        "torch_xla. With TorchTPU (looked at in accelerate 1.15) none is found, and its device is "
        "the CPU, silently.",
        example="accelerator = Accelerator()\nmodel = accelerator.prepare(model)",
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")\n'
        "model = model.to(device)  # several chips: fully_shard(model)",
        references=(
            ACCELERATE,
            "https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html",
        ),
    ),
    valid=(
        Case(
            "from accelerate import PartialState\nstate = PartialState()\n"
            "if state.is_main_process:\n    merge(args.device)\n"
        ),
        Case(
            "from accelerate import PartialState\nstate = PartialState()\n"
            "device = 'tpu:0' if is_torch_tpu_available() else state.device\n"
        ),
        Case("import torch\nd = torch.accelerator.current_accelerator()\n"),
        Case("from accelerate import Accelerator\na = Accelerator(cpu=True)\n"),
        Case("from mylib import Accelerator\na = Accelerator()\n"),
        Case("from accelerate import PartialState\nn = PartialState().num_processes\n"),
        Case("from accelerate import init_empty_weights\nwith init_empty_weights():\n    pass\n"),
        Case("from accelerate import Accelerator\n\ndef f(a: Accelerator) -> None: ...\n"),
    ),
    invalid=(
        Case(
            "from accelerate import Accelerator\na = Accelerator(mixed_precision='bf16')\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case("import accelerate\naccelerator = accelerate.Accelerator()\n", lines=(2,)),
        Case("from accelerate import PartialState\ndevice = PartialState().device\n", lines=(2,)),
        Case(
            "from accelerate.state import PartialState as S\nstate = S()\nx = x.to(state.device)\n",
            lines=(2,),
        ),
    ),
)


@RULE.call(
    *("accelerate.Accelerator", "accelerate.accelerator.Accelerator"),
    *("accelerate.PartialState", "accelerate.state.PartialState"),
)
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find the objects that choose a device."""
    cpu = argument(call, "cpu")
    state = name.endswith("PartialState")
    if state and (_KNOWN in module.text or not _takes_device(call, module)):
        return
    if cpu is None and not _is_imported(name, module):
        return
    if cpu is None or not any(p.value is True for p in module.value(cpu)):
        yield module.hit(
            call.func,
            f"`{name.rpartition('.')[2]}` does not know TorchTPU: its device is the CPU, silently",
            "move the model to `torch.accelerator.current_accelerator()`, and shard it with "
            "`fully_shard` for several chips",
            cause="accelerate takes the CPU",
        )


def _takes_device(call: ast.Call, module: Module) -> bool:
    """Tell whether the device of a state is used, and not the number of processes alone."""
    attribute = module.parent(call)
    if isinstance(attribute, ast.Attribute):
        return attribute.attr in {"device", "default_device"}
    if not isinstance(attribute, ast.Assign | ast.AnnAssign | ast.NamedExpr):
        return False
    target = attribute.targets[0] if isinstance(attribute, ast.Assign) else attribute.target
    held = module.code(target)
    return any(
        module.code(use.value) == held
        for name in ("device", "default_device")
        for use in module.index.attributes.get(name, ())
    )


def _is_imported(name: str, module: Module) -> bool:
    """Tell whether the name is imported, and not merely unknown."""
    return name.partition(".")[0] in module.libraries.roots
