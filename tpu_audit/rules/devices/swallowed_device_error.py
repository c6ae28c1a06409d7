"""TPA118: a move to a device whose failure is passed over."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.devices.device_tests import is_device
from tpu_audit.rules.python.devices import is_cuda
from tpu_audit.rules.python.walk import descend
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_WIDE = frozenset({"Exception", "BaseException", "RuntimeError", "AssertionError"})
_SHORT = 3
"""Statements of a ``try`` that is about the move."""

RULE = Rule(
    code="TPA118",
    name="swallowed-device-error",
    severity=Severity.WARNING,
    words=(".to(*", ".cuda(*"),
    docs=Docs(
        what="Finds `try` around `.to(...)` or `.cuda()` with a handler that does nothing, or "
        "goes on with the CPU.",
        why="On a TPU the move to CUDA raises, the error is passed over, and everything runs on "
        "the host's CPU without a message.",
        example="try:\n    net.cuda()\nexcept Exception:\n    pass",
        instead='device = torch.accelerator.current_accelerator() or torch.device("cpu")\n'
        "net.to(device)",
        references=("https://docs.pytorch.org/docs/stable/accelerator.html",),
    ),
    valid=(
        Case("try:\n    net.to(0)\nexcept Exception:\n    raise RuntimeError('no device')\n"),
        Case("try:\n    net.to(0)\nexcept Exception as error:\n    log.error(error)\n"),
        Case("try:\n    net.cuda()\nexcept KeyError:\n    pass\n"),
        Case("try:\n    x = x.to(torch.float32)\nexcept Exception:\n    pass\n"),
        Case("import torch\ntry:\n    q = angle.to('rad')\nexcept Exception:\n    pass\n"),
    ),
    invalid=(
        Case("net = load()\ntry:\n    net.to(0)\nexcept Exception:\n    pass\n", lines=(3,)),
        Case("try:\n    net = net.cuda()\nexcept:\n    pass\n", lines=(2,)),
        Case(
            "try:\n    x = x.to(device)\nexcept (RuntimeError, ValueError):\n    x = x.cpu()\n",
            lines=(2,),
        ),
        Case(
            "try:\n    net.to('cuda')\n    device = 'cuda'\nexcept RuntimeError:\n"
            "    device = 'cpu'\n",
            lines=(2,),
        ),
    ),
)


@RULE.node(ast.Try)
def check(block: ast.Try, module: Module) -> Iterator[Hit]:
    """Find the moves in blocks whose handlers pass errors over."""
    if len(block.body) > _SHORT or not any(_passes_over(h, module) for h in block.handlers):
        return
    for statement in block.body:
        call = _move(statement, module)
        if call is not None:
            yield module.hit(
                call,
                "where this fails, as CUDA does on a TPU, everything stays silently on the CPU",
                "let the error through, or report the device that is used",
                span=module.method_span(call),
            )
            return


def _passes_over(handler: ast.ExceptHandler, module: Module) -> bool:
    """Tell a handler of the errors of a move that does nothing, or takes the CPU."""
    if handler.type is not None and not any(
        getattr(part, "attr", getattr(part, "id", "")) in _WIDE for part in descend(handler.type)
    ):
        return False
    return all(_is_silent(statement, module) for statement in handler.body)


def _is_silent(statement: ast.stmt, module: Module) -> bool:
    if isinstance(statement, ast.Pass | ast.Continue):
        return True
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Constant):
        return isinstance(statement, ast.Expr) or value.value == "cpu"
    if not isinstance(value, ast.Call):
        return False
    word = getattr(value.func, "attr", getattr(value.func, "id", ""))
    to_cpu = any(p.value == "cpu" for a in value.args[:1] for p in module.value(a))
    return word == "cpu" or (word in {"to", "device"} and to_cpu)


def _move(statement: ast.stmt, module: Module) -> ast.Call | None:
    """Return the call that a statement moves to a device by."""
    value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return None
    if value.func.attr == "cuda":
        return None if module.is_imported(value.func.value) else value
    if value.func.attr != "to" or not value.args:
        return None
    target = value.args[0]
    known = any(is_cuda(p) or type(p.value) is int for p in module.value(target))
    return value if known or is_device(target, module) else None
