"""TPA116: several devices in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.devices.several import several
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_MESSAGE = "several devices in one process: a process on a TPU sees one"
_ADVICE = "start one process a device, and shard by FSDP or DTensor"

RULE = Rule(
    code="TPA116",
    name="several-device-indices",
    severity=Severity.ERROR,
    words=("cuda",),
    docs=Docs(
        what="Finds one process that uses several devices: an index that runs in a loop, or "
        '`"cuda:0"` beside `"cuda:1"`.',
        why="A process on a TPU sees one device, with index 0. Models spread by hand over indices "
        "cannot run, whatever the device is called.",
        example='parts = [b.to(f"cuda:{i}") for i, b in enumerate(blocks)]',
        instead="from torch.distributed.fsdp import fully_shard\n\nfor block in blocks:\n"
        "    fully_shard(block)",
        references=(
            "https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html",
            "https://docs.pytorch.org/docs/stable/distributed.tensor.html",
        ),
    ),
    valid=(
        Case('import torch\nx = x.to(f"cuda:{rank}")\n'),
        Case('import torch\na = a.to("cuda:1")\nb = b.to("cuda:1")\n'),
        Case("import torch\nfor i in range(3):\n    x = x.to('cuda:0')\n    print(f'cuda:{i}')\n"),
        Case('def f(x):\n    return x.to("cuda:0")\ndef g(x):\n    return x.to("cuda:1")\n'),
        Case("import torch\nif torch.cuda.is_available():\n    [b.cuda(i) for i in range(2)]\n"),
    ),
    invalid=(
        Case(
            'parts = [b.to(f"cuda:{i % n}") for i, b in enumerate(blocks)]\n',
            lines=(1,),
            columns=(15,),
        ),
        Case(
            "import torch\nfor i in range(torch.cuda.device_count()):\n"
            "    nets.append(net.cuda(i))\n",
            lines=(3,),
        ),
        Case(
            'import torch\na = torch.device("cuda:0")\nb = torch.device("cuda:1")\n',
            lines=(3,),
        ),
        Case(
            "import torch\ndef split(net):\n    net.a.to('cuda:0')\n    net.b.to('cuda:1')\n"
            "    net.c.to('cuda:2')\n",
            lines=(4, 5),
        ),
        Case(
            "class N:\n    def __init__(self):\n        self.a = A().to('cuda:0')\n"
            "        self.b = B().cuda(1)\n",
            lines=(4,),
        ),
        Case(
            "import torch\nfor n in range(4):\n    streams.append(torch.zeros(1, device="
            "'cuda:%d' % n))\n",
            lines=(3,),
        ),
    ),
)


@RULE.module
def check(module: Module) -> Iterator[Hit]:
    """Find indices that loops give, and literal indices beside one another."""
    for place in several(module):
        yield module.hit(place, _MESSAGE, _ADVICE)
