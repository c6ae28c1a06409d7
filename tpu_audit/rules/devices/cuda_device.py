"""TPA101: the device ``"cuda"``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.devices.literals import (
    KINDS,
    OVERRIDABLE,
    by_keyword,
    device_call,
    is_candidate,
    is_default,
    is_fallback,
    is_flagged,
    is_of_cuda,
    is_stored,
    is_taken_back,
    is_test_data,
    names_index,
    only_compared,
    over_literal,
    reaches_nothing,
)
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python.devices import is_cuda, is_indexed
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.devices import DeviceSink
    from tpu_audit.rules.python.module import Module
    from tpu_audit.rules.python.possible import Possible

_DEVICE = 'torch.accelerator.current_accelerator() or torch.device("cpu")'
_RAISES = 'the device "cuda" raises on a TPU: PyTorch is built without CUDA there'
_STORED = 'a TPU has no device "cuda": what is placed there raises'
_AUTOCAST = 'autocast for "cuda" warns on a TPU, and leaves the precision as it is'

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
        Case("import torch\nclass Devices:\n    CUDA_DEVICE = torch.device('cuda')\n"),
        Case('import torch\ndevice = torch.device("cpu")\n'),
        Case('import torch\nname = "cuda"\nprint("cuda")\n'),
        Case('import torch\nif torch.cuda.is_available():\n    x = x.to("cuda")\n'),
        Case(
            "import torch\n"
            'device = "cuda" if torch.cuda.is_available() else "cpu"\nx = x.to(device)\n'
        ),
        Case('import torch\ndevice = torch.device(type="cuda", index=0)\n'),
        Case('import torch\nsame = x.device == torch.device("cuda")\n'),
        Case('def f(x, device="cuda"):\n    return x.to(device)\n'),
        Case('import torch\ndef f(x, device=torch.device("cuda")):\n    return x.to(device)\n'),
        Case('import torch\nd = torch.device("cuda", 0)\ne = torch.device(type="cuda")\n'),
        Case(
            'from faster_whisper import WhisperModel\ndevice = "cuda"\nWhisperModel("s", device)\n'
        ),
        Case(
            "import torch\nclass CUDAAccelerator(Base):\n    def root(self):\n"
            '        return torch.device("cuda")\n'
        ),
        Case('import jax\ndevice = "cuda"\n'),
        Case('import torch\nx = torch.ones(2)\nif False:\n    x = x.to("cuda")\n'),
        Case(
            "import torch\ndef best():\n    device = torch.accelerator.current_accelerator()\n"
            "    if device is not None:\n        return device\n"
            '    return torch.device("cuda")\n'
        ),
        Case('import torch\ns = torch.load(p, map_location=torch.device("cuda"))\n'),
        Case('import torch\nseed(device.type == torch.device("cuda").type)\n'),
        Case(
            "import torch\nORDER = ('cuda', 'xpu', 'hpu')\nfor kind in ORDER:\n"
            "    if ready(kind):\n        device = torch.device(kind)\n"
        ),
        Case(
            "import torch\ndef get(device):\n    if device == 'auto':\n        device = 'cuda'\n"
            "    device = torch.device(device)\n"
            "    if device.type == 'cuda' and not torch.cuda.is_available():\n"
            "        return torch.device('cpu')\n    return device\n"
        ),
        Case(
            'device_type = "npu" if is_npu_available() else "cuda"\n'
            "n = len([d for d in places if torch.device(d).type == device_type])\n"
        ),
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
            fixed=f"import torch\nx = x.to(str({_DEVICE}), non_blocking=True)\n",
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
        Case('setattr(args, "device", "cuda")\n', lines=(1,), severity=Severity.WARNING),
        Case(
            'import torch\nwith torch.device("cuda"):\n    model = Net()\n',
            lines=(2,),
            fixed=f"import torch\nwith {_DEVICE}:\n    model = Net()\n",
        ),
        Case("import torch as th\nth.set_default_device('cuda')\n", lines=(2,)),
        Case('run({"device": "cuda", "lr": 0.1})\n', lines=(1,), severity=Severity.WARNING),
        Case('import torch\nx = getattr(torch, "ones")(2, device="cuda")\n', lines=(2,)),
        Case(
            "from safetensors.torch import load_file\ns = load_file(p, 'cuda')\n",
            lines=(2,),
        ),
        Case('p = MixedPrecision(device="cuda")\n', lines=(1,), severity=Severity.WARNING),
        Case("x.to(device or 'cuda')\n", lines=(1,), severity=Severity.WARNING),
        Case("x.to('cuda' if self.use_cuda else 'cpu')\n", lines=(1,), severity=Severity.WARNING),
        Case('x.to(cfg.get("device", "cuda"))\n', lines=(1,), severity=Severity.WARNING),
        Case("x = f\"{y.to('cuda')}\"\n", lines=(1,)),
        Case(
            'from enum import Enum\nclass Device(str, Enum):\n    CPU = "cpu"\n    CUDA = "cuda"\n'
            "model.to(Device.CUDA.value)\n",
            lines=(5,),
        ),
        Case(
            "def load(torch):\n    return torch.zeros(2, device=torch.device('cuda'))\n", lines=(2,)
        ),
        Case(
            "from torch.distributed.device_mesh import init_device_mesh\n"
            'mesh = init_device_mesh("cuda", (8,))\n',
            lines=(2,),
        ),
    ),
)


@RULE.sink(*KINDS)
def check(sink: DeviceSink, module: Module) -> Iterator[Hit]:
    """Find the literals that reach a device; each is reported once, where it stands."""
    if reaches_nothing(sink, module) or only_compared(sink, module):
        return
    weak = is_stored(sink)
    for possible in module.value(sink.node):
        if not is_cuda(possible) or _is_of_another_rule(possible, module):
            continue
        if is_of_cuda(possible.node, module) or is_candidate(possible, module):
            continue
        if is_taken_back(possible, module):
            continue
        if is_test_data(sink, module):
            continue
        place = possible.node
        if _is_constant(place, module):
            if module.statement(sink.node) is module.statement(place):
                continue
            place = sink.node
        mild = weak or is_fallback(possible, module) or _is_autocast(sink)
        mild = mild or is_flagged(place, module)
        effect = _STORED if weak else _RAISES
        fixable = place is possible.node
        yield module.hit(
            place,
            _AUTOCAST if _is_autocast(sink) else effect,
            "use the accelerator's device",
            fix=over_literal(place, module, Applicability.UNSAFE) if fixable else None,
            severity=Severity.WARNING if mild else None,
        )


def _is_constant(node: ast.expr, module: Module) -> bool:
    """Tell ``CUDA = torch.device("cuda")`` among the constants of a class: it makes no tensor."""
    statement = module.statement(node)
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    named = any("cuda" in str(getattr(target, "id", "")).lower() for target in targets)
    return named and isinstance(module.parent(statement), ast.ClassDef)


def _is_autocast(sink: DeviceSink) -> bool:
    """Tell a class for mixed precision, which only passes the device to autocast."""
    callee = sink.call.func if sink.call is not None else None
    return "Precision" in str(getattr(callee, "attr", getattr(callee, "id", "")))


def _is_of_another_rule(possible: Possible, module: Module) -> bool:
    """Tell defaults, which can be overridden, and devices with an index or by keyword."""
    if is_indexed(possible) or possible.via in OVERRIDABLE or is_default(possible.node, module):
        return True
    call = device_call(possible.node, module)
    return call is not None and (names_index(call) or by_keyword(call))
