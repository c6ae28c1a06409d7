"""TPA411: clocks around work that runs on."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python import tensor_names
from tpu_audit.rules.python.tensors import tensors
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_CLOCKS = ("time.time", "time.perf_counter", "time.monotonic", "timeit.default_timer")
_WAITS = frozenset({"synchronize", "item", "tolist", "cpu", "numpy", "elapsed_time", "generate"})
_WORK = frozenset({"backward"})
_LONG = frozenset({60, 3600})

RULE = Rule(
    code="TPA411",
    name="unsynchronized-timing",
    severity=Severity.INFO,
    words=("time", "perf_counter", "monotonic", "default_timer"),
    in_tests=None,
    docs=Docs(
        what="Finds a clock read before and after a model's call or `backward`, with nothing "
        "between that waits for the device.",
        why="Work on a TPU is queued: the call returns before it is done, and the first one "
        "compiles. The time measured is neither.",
        example="start = time.perf_counter()\nout = model(x)\n"
        "seconds = time.perf_counter() - start",
        instead="start = time.perf_counter()\nout = model(x)\ntorch.accelerator.synchronize()\n"
        "seconds = time.perf_counter() - start",
        references=(
            "https://docs.pytorch.org/docs/stable/generated/torch.accelerator.synchronize.html",
        ),
    ),
    valid=(
        Case("import time\nt = time.time()\nload()\nprint(time.time() - t)\n"),
        Case(
            "import time, torch\nt = time.time()\ny = model(x)\ntorch.accelerator.synchronize()\n"
            "print(time.time() - t)\n"
        ),
        Case(
            "import time, torch\nt = time.time()\nloss(x).backward()\ns = time.time() - t\n"
            'print(f"{s / 3600:.3f} hours")\n'
        ),
        Case("import time\nt = time.time()\nn = model(x).sum().item()\nd = time.time() - t\n"),
    ),
    invalid=(
        Case(
            "import time, torch\nt = time.time()\ny = model(x)\nd = time.time() - t\n", lines=(4,)
        ),
        Case(
            "from time import perf_counter as clock\nimport torch\ndef bench(net, x):\n"
            "    start = clock()\n    for _ in range(9):\n        net(x)\n"
            "    return clock() - start\n",
            lines=(7,),
        ),
        Case(
            "import time\nimport torch\nfor x in loader:\n    s = time.monotonic()\n"
            "    loss(x).backward()\n    e = time.monotonic()\n    spent = e - s\n",
            lines=(6,),
        ),
    ),
)


@RULE.call(*_CLOCKS)
def check(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find second readings of a clock in a block, with unwaited work before them."""
    second = module.statement(call)
    block = module.index.block(second)
    before = block[: block.index(second)]
    first = next((s for s in reversed(before) if _reads_clock(s, module)), None)
    if first is None or module.libraries.is_jax:
        return
    between = [n for s in before[before.index(first) + 1 :] for n in descend(s)]
    between += descend(second)
    if _is_coarse(second, module):
        return
    waits = any(isinstance(n, ast.Attribute) and n.attr in _WAITS for n in between)
    if not waits and any(isinstance(n, ast.Call) and _works(n, module) for n in between):
        yield module.hit(
            call,
            f"`{name}` is read while the TPU still works: the time is that of queueing",
            "call `torch.accelerator.synchronize()` first",
        )


def _reads_clock(statement: ast.stmt, module: Module) -> bool:
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Call)
        and module.is_named(statement.value.func, *_CLOCKS)
    )


def _is_coarse(statement: ast.stmt, module: Module) -> bool:
    """Tell a time that is turned to minutes or hours: what is still queued does not show in it."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    uses = module.index.names.get(target.id, ()) if isinstance(target, ast.Name) else ()
    parents = [module.parent(use) for use in uses]
    parents += [node for node in descend(statement) if isinstance(node, ast.BinOp)]
    return any(
        isinstance(parent, ast.BinOp)
        and isinstance(parent.op, ast.Div)
        and isinstance(parent.right, ast.Constant)
        and parent.right.value in _LONG
        for parent in parents
    )


def _works(call: ast.Call, module: Module) -> bool:
    """Tell whether a call queues work: a model's call, or ``backward``."""
    word = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if word in _WORK:
        return True
    return tensor_names.MODEL.search(word) is not None and tensors(module).may_be(call)
