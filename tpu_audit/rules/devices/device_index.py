"""TPA104: a device that is a bare number."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.python.devices import SinkKind
from tpu_audit.rules.python.possible import Via
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.devices import DeviceSink
    from tpu_audit.rules.python.module import Module

_RANK = re.compile(
    r"(?:^|_)(?:rank|local_rank|gpu|gpu_?id|gpu_?idx|device_?id|device_?idx|device_?index|cuda_?id)$",
    re.IGNORECASE,
)
"""Names of numbers that differ from process to process."""
_LOCAL = frozenset({"LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"})
"""Environment variables that number the processes of a host."""
_NEAR = frozenset({Via.LITERAL, Via.VARIABLE, Via.ATTRIBUTE})
"""How a number that is meant comes there; a default may be overridden."""

RULE = Rule(
    code="TPA104",
    name="device-index",
    severity=Severity.WARNING,
    words=(".to(*", "device"),
    docs=Docs(
        what="Finds numbers taken for devices: `x.to(0)`, `torch.device(rank)`, "
        "`torch.zeros(2, device=local_rank)`.",
        why="A number means the accelerator with that index. A process on a TPU sees one device "
        "with index 0: any other index raises. The number 0 works and counts as a note.",
        example="model = model.to(local_rank)",
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")\n'
        "model = model.to(device)",
        references=(
            "https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device",
            "https://docs.pytorch.org/docs/stable/accelerator.html",
        ),
    ),
    valid=(
        Case("import torch\nx = x.to(device)\n"),
        Case("import torch\nx = x.to(torch.float32, True)\n"),
        Case("import sounddevice as sd\nsd.record(3, device=1)\n"),
        Case("import torch\nx = angle.to(True)\n"),
        Case("import torch\nif torch.cuda.is_available():\n    x = x.to(rank)\n"),
        Case("import torch\ndef move(x, device=0):\n    return x.to(device)\n"),
    ),
    invalid=(
        Case("model = model.to(0)\n", lines=(1,), columns=(18,), severity=Severity.INFO),
        Case("import torch\nmodel.to(device=1)\n", lines=(2,)),
        Case("import torch\ndev = torch.device(local_rank)\n", lines=(2,)),
        Case("import torch\nx = torch.zeros(2, device=self.gpu_id)\n", lines=(2,)),
        Case("from ultralytics import YOLO\nYOLO(p).train(device=[0, 1])\n", lines=(2,)),
        Case("import torch\nd = torch.device(rank if rank > -1 else 'cpu')\n", lines=(2,)),
        Case("import os\nmodel.to(int(os.environ['LOCAL_RANK']))\n", lines=(2,)),
        Case("import torch\nGPU = 2\nx = x.to(GPU)\n", lines=(3,)),
    ),
)


@RULE.sink(SinkKind.TO, SinkKind.DEVICE, SinkKind.KEYWORD)
def check(sink: DeviceSink, module: Module) -> Iterator[Hit]:
    """Find the numbers, and the names that hold a rank."""
    if _is_list(sink.node) and "ultralytics" in module.libraries.roots:
        yield module.hit(
            sink.node,
            "a process on a TPU sees one device: a list of numbers means CUDA's",
            "leave `device` out, or pass the accelerator's device",
        )
    if sink.kind is SinkKind.KEYWORD and not _is_pytorch(sink, module):
        return
    indices = _indices(sink.node, module)
    if not indices and not _is_rank(sink.node, module):
        return
    first = indices == {0}
    if first and not isinstance(sink.node, ast.Constant):
        return  # a variable may hold any device, and 0 is one that a TPU has
    yield module.hit(
        sink.node,
        "the number 0 means the accelerator's first device, on a TPU too"
        if first
        else "a process on a TPU sees one device: any index but 0 raises",
        "use the accelerator's device without an index",
        severity=Severity.INFO if first else None,
    )


def _is_list(node: ast.expr) -> bool:
    """Tell ``device=[0, 1]``, which Ultralytics takes."""
    items = node.elts if isinstance(node, ast.List) else []
    return bool(items) and all(type(getattr(item, "value", "")) is int for item in items)


def _is_pytorch(sink: DeviceSink, module: Module) -> bool:
    """Tell a call whose ``device=`` takes PyTorch's numbers: a factory function or ``.to``."""
    call = sink.call
    if call is None:
        return False
    if module.is_named(call.func, "torch.*"):
        return True
    return isinstance(call.func, ast.Attribute) and call.func.attr == "to"


def _indices(node: ast.expr, module: Module) -> set[int]:
    return {
        p.value
        for p in module.value(node)
        if type(p.value) is int and p.value >= 0 and p.via in _NEAR
    }


def _is_rank(node: ast.expr, module: Module) -> bool:
    """Tell whether a name that looks like an index holds no text, as far as the file tells."""
    if any(map(_is_local_rank, _held(node, module))):
        return True
    if isinstance(node, ast.IfExp):
        return _is_rank(node.body, module) or _is_rank(node.orelse, module)
    word = getattr(node, "attr", getattr(node, "id", ""))
    if not isinstance(word, str) or _RANK.search(word) is None:
        return False
    return not module.value(node).strings() and not _is_made(node, module)


def _held(node: ast.expr, module: Module) -> list[ast.expr]:
    if not isinstance(node, ast.Name):
        return [node]
    return [b.value for b in module.scopes.bindings(node) if b.value is not None]


def _is_local_rank(node: ast.expr) -> bool:
    """Tell ``int(os.environ["LOCAL_RANK"])``, ``int(os.getenv("SLURM_LOCALID", 0))``."""
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "int" or not node.args:
        return False
    read = node.args[0]
    key = read.slice if isinstance(read, ast.Subscript) else None
    if isinstance(read, ast.Call) and read.args:
        key = read.args[0]
    return getattr(key, "value", None) in _LOCAL


def _is_made(node: ast.expr, module: Module) -> bool:
    """Tell whether a name holds a ``torch.device``."""
    if not isinstance(node, ast.Name):
        return False
    values = [binding.value for binding in module.scopes.bindings(node)]
    return any(
        isinstance(value, ast.Call) and module.is_named(value.func, "torch.device")
        for value in values
    )
