"""TPA225: host memory pinned for CUDA's copies."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.python import repair
from tpu_audit.rules.python.devices import is_cuda
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

RULE = Rule(
    code="TPA225",
    name="pin-memory",
    severity=Severity.INFO,
    words=("pin_memory", "pin_memory_device"),
    docs=Docs(
        what="Finds `pin_memory=True`, `.pin_memory()` and `pin_memory_device` of CUDA.",
        why="Pinned memory speeds copies to a CUDA device up. On a TPU it is taken from the TPU's "
        "own allocator, which needs an initialised device and brings no known benefit; a data "
        "loader's pinning thread costs time.",
        example="loader = DataLoader(data, batch_size=8, pin_memory=True)",
        instead="loader = DataLoader(data, batch_size=8)",
        fix_safety="Unsafe: on CUDA, copies to the device become slower.",
        references=("https://docs.pytorch.org/docs/stable/data.html",),
    ),
    valid=(
        Case("loader = DataLoader(data, pin_memory=False)\n"),
        Case("import torch\nloader = DataLoader(data, pin_memory=torch.cuda.is_available())\n"),
        Case("loader = DataLoader(data, pin_memory=pin_memory)\n"),
        Case("def build(pin_memory: bool = True):\n    return pin_memory\n"),
        Case("import torch\nif torch.cuda.is_available():\n    x = x.pin_memory()\n"),
    ),
    invalid=(
        Case(
            "from torch.utils.data import DataLoader\n"
            "loader = DataLoader(data, pin_memory=True, num_workers=2)\n",
            lines=(2,),
            columns=(27,),
            fixed="from torch.utils.data import DataLoader\n"
            "loader = DataLoader(data, pin_memory=False, num_workers=2)\n",
        ),
        Case("x = x.pin_memory().to(device, non_blocking=True)\n", lines=(1,), columns=(7,)),
        Case(
            'loader = DataLoader(data, pin_memory_device="cuda:0")\n',
            lines=(1,),
            severity=Severity.WARNING,
        ),
        Case("offload = {'device': 'cpu', 'pin_memory': True}\n", lines=(1,)),
    ),
)


@RULE.keyword("pin_memory")
def check(argument: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find literals that ask for pinned memory."""
    if _is_true(argument.value):
        fix = repair.fix(module, Applicability.UNSAFE, module.edit(argument.value, "False"))
        yield module.hit(
            argument,
            f"`{argument.arg}=True` brings nothing on a TPU",
            f"pass `{argument.arg}=False`, or pin on CUDA alone",
            fix=fix,
            cause="keyword",
        )


@RULE.keyword("pin_memory_device")
def check_device(argument: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find a CUDA device to pin for."""
    if any(map(is_cuda, module.value(argument.value))):
        yield module.hit(
            argument,
            "memory cannot be pinned for CUDA on a TPU",
            "leave `pin_memory_device` out",
            severity=Severity.WARNING,
        )


@RULE.method("pin_memory")
def check_method(call: ast.Call, receiver: ast.expr, module: Module) -> Iterator[Hit]:
    """Find ``tensor.pin_memory()``, methods of the file's own classes excepted."""
    own = isinstance(receiver, ast.Name) and receiver.id in {"self", "cls", "super"}
    if not own and not module.is_imported(receiver):
        yield module.hit(
            call,
            "pinned memory brings nothing on a TPU",
            "leave `.pin_memory()` out, or pin on CUDA alone",
            span=module.method_span(call),
            cause="method",
        )


@RULE.string("pin_memory")
def check_entry(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find the entry of a literal config."""
    parent = module.parent(constant)
    if constant.value != "pin_memory" or not isinstance(parent, ast.Dict):
        return
    if any(key is constant and _is_true(value) for key, value in _items(parent)):
        yield module.hit(
            constant,
            "`pin_memory` brings nothing on a TPU",
            "set it on CUDA alone",
            cause="entry",
        )


def _items(node: ast.Dict) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    return zip(node.keys, node.values, strict=True)


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
