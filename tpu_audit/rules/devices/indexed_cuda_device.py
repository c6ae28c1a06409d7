"""TPA102: the device ``"cuda:N"``, however it is put together."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.devices.literals import (
    KINDS,
    OVERRIDABLE,
    by_keyword,
    device_call,
    is_default,
    is_fallback,
    is_flagged,
    is_of_cuda,
    is_stored,
    is_taken_back,
    is_test_data,
    names_index,
    over_literal,
    reaches_nothing,
    says_cuda,
)
from tpu_audit.rules.devices.several import several
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python.devices import is_cuda, is_indexed
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.devices import DeviceSink
    from tpu_audit.rules.python.module import Module
    from tpu_audit.rules.python.possible import Possible

_DEVICE = 'torch.accelerator.current_accelerator() or torch.device("cpu")'
_RAISES = "a CUDA device with an index raises on a TPU, where a process sees one device"
_STORED = "a TPU has no CUDA device, and a process sees one device: what is placed there raises"

RULE = Rule(
    code="TPA102",
    name="indexed-cuda-device",
    severity=Severity.ERROR,
    words=("cuda",),
    docs=Docs(
        what='Finds `"cuda:0"`, `f"cuda:{rank}"`, `"cuda:%d" % rank`, `"cuda:" + str(rank)`, '
        '`"cuda:{}".format(rank)` and `torch.device("cuda", rank)` where a device is taken.',
        why="PyTorch for TPUs is built without CUDA, so the device raises. An index has no meaning "
        "either: each process on a TPU sees one device, with index 0.",
        example='device = torch.device(f"cuda:{local_rank}")',
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")',
        fix_safety="Unsafe: the index is dropped, so a process that never sets its device runs on "
        "the first GPU of a CUDA host.",
        references=(
            "https://docs.pytorch.org/docs/stable/accelerator.html",
            "https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device",
        ),
    ),
    valid=(
        Case('import torch\ndevice = torch.device("cpu:0")\n'),
        Case('label = "cuda:0"\nprint(f"cuda:{label}")\n'),
        Case("import torch\nif torch.cuda.is_available():\n    x = x.to(f'cuda:{rank}')\n"),
        Case('import torch\nx = x.to("cuda")\n'),
        Case(
            "import torch\ndevice = f'cuda:{rank}'\nif not torch.cuda.is_available():\n"
            "    device = 'cpu'\nx = x.to(device)\n"
        ),
        Case('def load(path, device="cuda:0"):\n    return open(path)\n'),
        Case("import torch\ndef f(kind='cuda', i=0):\n    return torch.device(f'{kind}:{i}')\n"),
        Case('import torch\ns = torch.load(p, map_location=torch.device("cuda", 0))\n'),
        Case('import torch\ntorch.cuda.set_device(torch.device("cuda:0"))\n'),
        Case('parts = [b.to(f"cuda:{i % n}") for i, b in enumerate(blocks)]\n'),
        Case('import jax\nfrom lib import put\nx = put(x, device="cuda:0")\n'),
        Case("class Warp:\n    def __init__(self):\n        self.device = 'cuda:0'\n"),
    ),
    invalid=(
        Case(
            'PLACES = ["cuda:0", "cuda:1"]\nnets = [Net().to(place) for place in PLACES]\n',
            lines=(1,),
        ),
        Case(
            'import torch\nx = x.to(f"cuda:{rank}")\n',
            lines=(2,),
            columns=(10,),
            fixed=f"import torch\nx = x.to(str({_DEVICE}))\n",
        ),
        Case(
            "import torch as th\ndevice = th.device('cuda:%d' % th.distributed.get_rank())\n",
            lines=(2,),
            fixed=f"import torch as th\ndevice = {_DEVICE.replace('torch.', 'th.')}\n",
        ),
        Case(
            'import torch\ndev = torch.device("cuda", rank)\n',
            lines=(2,),
            fixed=f"import torch\ndev = {_DEVICE}\n",
        ),
        Case('import torch\nw = torch.ones(2, device="cuda:" + str(rank))\n', lines=(2,)),
        Case('from torch import zeros\nw = zeros(2, device="cuda:{}".format(rank))\n', lines=(2,)),
        Case(
            'import torch\nclass A:\n    place = "cuda:1"\n    def move(self, x):\n'
            "        return x.to(self.place)\n",
            lines=(3,),
        ),
        Case('a = a.to("cuda:0")\nb = b.to("cuda:1")\n', lines=(1,)),
        Case(
            "import torch\ngpus = find(rank)\n"
            "d = torch.device('cuda', index=gpus[0]) if gpus else torch.device('cpu')\n",
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case("CFG = dict(device='cuda:0')\n", lines=(1,), severity=Severity.WARNING),
        Case('device = f"cuda:{local_rank}"\nrun(device)\n', lines=(1,), severity=Severity.WARNING),
        Case(
            'x = x.to(f"cuda:{rank}") if backend == "nccl" else x\n',
            lines=(1,),
            severity=Severity.WARNING,
        ),
    ),
)


@RULE.sink(*KINDS)
def check(sink: DeviceSink, module: Module) -> Iterator[Hit]:
    """Find the strings with an index that reach a device."""
    if reaches_nothing(sink, module):
        return
    beside = several(module)
    for possible in module.value(sink.node):
        if not _has_index(possible, module) or possible.via in OVERRIDABLE:
            continue
        if possible.node in beside or is_taken_back(possible, module):
            continue
        if is_default(possible.node, module) or is_test_data(sink, module):
            continue
        weak = is_stored(sink) or _needs_nccl(sink.node, module)
        weak = weak or is_fallback(possible, module) or is_flagged(possible.node, module)
        yield module.hit(
            possible.node,
            _STORED if is_stored(sink) else _RAISES,
            "use the accelerator's device without an index",
            fix=over_literal(possible.node, module, Applicability.UNSAFE),
            severity=Severity.WARNING if weak else None,
        )


def _has_index(possible: Possible, module: Module) -> bool:
    if not is_cuda(possible) or not says_cuda(possible.node) or is_of_cuda(possible.node, module):
        return False
    call = device_call(possible.node, module)
    if call is not None and by_keyword(call):
        return False
    return is_indexed(possible) or (call is not None and names_index(call))


def _needs_nccl(node: ast.expr, module: Module) -> bool:
    """Tell whether a place runs only with the backend NCCL, which no TPU has."""
    parent = module.parent(node)
    while parent is not None:
        if isinstance(parent, ast.If | ast.IfExp) and any(
            isinstance(part, ast.Constant) and part.value == "nccl" for part in descend(parent.test)
        ):
            return True
        parent = module.parent(parent)
    return False
