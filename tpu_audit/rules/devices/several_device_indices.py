"""TPA116: several devices in one process."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.devices.literals import is_of_cuda, says_cuda
from tpu_audit.rules.python.devices import SinkKind, is_cuda
from tpu_audit.rules.python.scopes import Kind
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_KINDS = frozenset({SinkKind.TO, SinkKind.DEVICE, SinkKind.KEYWORD})
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
    first: dict[ast.AST | None, str] = {}
    for place, text in sorted(_indexed(module), key=lambda p: (p[0].lineno, p[0].col_offset)):
        scope = module.context(place).function
        if text is None or first.setdefault(scope, text) != text:
            yield module.hit(place, _MESSAGE, _ADVICE)


def _indexed(module: Module) -> Iterator[tuple[ast.expr, str | None]]:
    """Iterate over places of devices with an index: the device's text, None for a loop's index."""
    for sink in module.sinks:
        if sink.kind in _KINDS and not module.reach(sink.node).dead:
            yield from _of_sink(sink.node, sink.call, module)
    for attribute in module.index.attributes.get("cuda", ()):
        call = module.parent(attribute)
        if not isinstance(call, ast.Call) or call.func is not attribute or not call.args:
            continue
        index = call.args[0]
        if module.is_imported(attribute.value) or module.reach(call).dead:
            continue
        if _runs(index, module):
            yield index, None
        elif isinstance(index, ast.Constant) and type(index.value) is int:
            yield index, f"cuda:{index.value}"


def _of_sink(
    node: ast.expr, call: ast.Call | None, module: Module
) -> Iterator[tuple[ast.expr, str | None]]:
    for possible in module.value(node):
        if not is_cuda(possible) or module.reach(possible.node).dead:
            continue
        if not says_cuda(possible.node) or is_of_cuda(possible.node, module):
            continue
        second = call.args[1:2] if call is not None and node in call.args[:1] else []
        if _runs(possible.node, module) or any(_runs(n, module) for n in second):
            yield possible.node, None
        elif str(possible.value).partition(":")[2].isdigit():
            yield possible.node, str(possible.value)
        elif second and isinstance(second[0], ast.Constant):
            yield possible.node, f"cuda:{second[0].value!r}"


def _runs(node: ast.expr, module: Module) -> bool:
    """Tell whether an index is a variable of a loop or a comprehension."""
    names = (part for part in descend(node) if isinstance(part, ast.Name))
    return any(_is_loop_variable(name, module) for name in names)


def _is_loop_variable(name: ast.Name, module: Module) -> bool:
    bindings = module.scopes.bindings(name)
    return bool(bindings) and all(
        binding.kind is Kind.LOOP or _is_target(binding.node, module) for binding in bindings
    )


def _is_target(node: ast.AST, module: Module) -> bool:
    """Tell one of several names that a loop binds."""
    parent = module.parent(node)
    while isinstance(parent, ast.Tuple | ast.List | ast.Starred):
        node, parent = parent, module.parent(parent)
    loops = ast.For | ast.AsyncFor | ast.comprehension
    return isinstance(parent, loops) and parent.target is node
