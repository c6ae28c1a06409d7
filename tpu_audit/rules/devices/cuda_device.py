"""TPA101: the device ``"cuda"``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.devices import SinkKind, is_cuda, is_indexed
from tpu_audit.rules.python.possible import Via
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.devices import DeviceSink
    from tpu_audit.rules.python.module import Module

_DEVICE = 'torch.accelerator.current_accelerator() or torch.device("cpu")'
_DEFAULTS = frozenset({Via.DEFAULT, Via.FIELD, Via.OPTION})
"""Defaults can be overridden: another rule's."""

RULE = Rule(
    code="TPA101",
    name="cuda-device",
    severity=Severity.ERROR,
    words=("cuda",),
    docs=Docs(
        what='Finds the literal `"cuda"` where a device is taken: `torch.device`, `.to`, `device=` '
        "and variables that reach them.",
        why="PyTorch for TPUs is built without CUDA: making a tensor there raises "
        '"Torch not compiled with CUDA enabled".',
        example='device = torch.device("cuda")\nx = torch.zeros(4, device="cuda")',
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")\n'
        "x = torch.zeros(4, device=device)",
        fix_safety="Unsafe: a host without an accelerator runs on the CPU where it raised before.",
        references=("https://docs.pytorch.org/docs/stable/accelerator.html",),
    ),
    valid=(
        Case('import torch\ndevice = torch.device("cpu")\n'),
        Case('import torch\nname = "cuda"\nprint("cuda")\n'),
        Case('import torch\nif torch.cuda.is_available():\n    x = x.to("cuda")\n'),
        Case(
            "import torch\n"
            'device = "cuda" if torch.cuda.is_available() else "cpu"\nx = x.to(device)\n'
        ),
        Case('import torch\nsame = x.device == torch.device("cuda")\n'),
        Case('def f(x, device="cuda"):\n    return x.to(device)\n'),
    ),
    invalid=(
        Case(
            'import torch\ndevice = torch.device("cuda")\nx = x.to(device)\n',
            lines=(2,),
            columns=(23,),
            fixed=f"import torch\ndevice = {_DEVICE}\nx = x.to(device)\n",
        ),
        Case(
            'import torch\nx = x.to("cuda", non_blocking=True)\n',
            lines=(2,),
            fixed=f"import torch\nx = x.to({_DEVICE}, non_blocking=True)\n",
        ),
        Case(
            'import torch\nKIND = "cuda"\nx = torch.zeros(3, device=KIND)\n',
            lines=(2,),
            fixed=f"import torch\nKIND = str({_DEVICE})\nx = torch.zeros(3, device=KIND)\n",
        ),
        Case(
            'class A:\n    def __init__(self, x):\n        self.x = x.to(device="cuda")\n',
            lines=(3,),
        ),
        Case('device = "cuda"\nrun(device)\n', lines=(1,), severity=Severity.WARNING),
        Case('run({"device": "cuda"})\n', lines=(1,), severity=Severity.WARNING),
        Case("x = f\"{y.to('cuda')}\"\n", lines=(1,)),
    ),
)


@RULE.sink(
    SinkKind.DEVICE,
    SinkKind.TO,
    SinkKind.KEYWORD,
    SinkKind.DEFAULT,
    SinkKind.ENTRY,
    SinkKind.ASSIGNED,
)
def check(sink: DeviceSink, module: Module) -> Iterator[Hit]:
    """Find the literals that reach a device; each is reported once, where it stands."""
    if module.reach(sink.node).dead or _is_compared(sink, module):
        return
    for possible in module.value(sink.node):
        if not is_cuda(possible) or is_indexed(possible) or possible.via in _DEFAULTS:
            continue
        if module.context(possible.node).default:
            continue
        yield module.hit(
            possible.node,
            'the device "cuda" raises on a TPU: PyTorch is built without CUDA there',
            "use the accelerator's device",
            fix=_fix(possible.node, sink, module),
            severity=None if sink.call is not None else Severity.WARNING,
        )


def _is_compared(sink: DeviceSink, module: Module) -> bool:
    """Tell ``device == torch.device("cuda")``: it asks, and moves nothing."""
    return sink.call is not None and isinstance(module.parent(sink.call), ast.Compare)


def _fix(literal: ast.expr, sink: DeviceSink, module: Module) -> Fix:
    """Write the accelerator's device over the literal, or over ``torch.device`` around it."""
    target, text = literal, repair.device_string(module)
    if sink.node is literal and sink.call is not None and sink.kind is not SinkKind.KEYWORD:
        text = repair.device(module)
        alone = len(sink.call.args) == 1 and not sink.call.keywords
        if sink.kind is SinkKind.DEVICE and alone:
            target = sink.call
    text = repair.fitted(module, target, text)
    return repair.fix(module, Applicability.UNSAFE, module.edit(target, text))
