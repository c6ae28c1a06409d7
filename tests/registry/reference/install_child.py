"""Run where the wheel is: what the kernels change there. Prints JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from op_registry.build.device import initialise
from op_registry.errors import RegistryError
from op_registry.loader import load
from op_registry.reference import declared, install
from op_registry.reference.check import lowers
from op_registry.reference.lowering import program
from op_registry.reference.samples import collect


def lowered() -> dict[str, str]:
    """Return what lowering a sample of every declared op raises; empty: it lowers."""
    found = {}
    for op, samples in COLLECTED.items():
        kernel = KERNELS[op]
        calls = [call for calls in samples.calls.values() for call in calls]
        changes = kernel.changes or kernel.overload._schema.is_mutable
        try:
            program(kernel.overload, calls[0], changes=changes)
            found[op] = ""
        except Exception as error:  # noqa: BLE001 - the error is the finding
            found[op] = f"{type(error).__name__}: {error}"[:300]
    return found


def runs_above(op: str) -> bool:
    """Tell whether the op's library computes it where autograd stands, of ops of other libraries.

    Only in inference mode does the backend see a call of such an op.
    """
    name = op.removesuffix(".default").replace(".", "::", 1)
    if op.startswith("aten.") or not KERNELS[op].here:
        return False
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, "Autograd"))


def gradients() -> dict[str, bool]:
    """Return for calls on fake tensors of the device whether their inputs get gradients."""
    calls: dict[str, Any] = {
        "avg_pool1d": lambda x: torch.nn.functional.avg_pool1d(x, 2),
        "lstm": lambda x: torch.nn.LSTM(4, 4, device="tpu")(x)[0],
        "gru": lambda x: torch.nn.GRU(4, 4, device="tpu")(x)[0],
        "mish": torch.nn.functional.mish,
        "trace": lambda x: x[0].trace(),
    }
    return {name: gradient(call) for name, call in calls.items()}


def gradient(call: Any) -> bool:
    """Differentiate ``call`` on a fake tensor; say whether that gave a gradient."""
    with FakeTensorMode():
        given = torch.empty(2, 4, 4, device="tpu", requires_grad=True)
        result = call(given)
        found = walked(result, given) if result.requires_grad else None
    return found is not None and found.shape == given.shape and found.device.type == "tpu"


def walked(result: torch.Tensor, given: torch.Tensor) -> torch.Tensor | None:
    """Return the gradient of ``result``: autograd's engine itself needs a device to end on."""
    order: list[Any] = []
    _visit(result.grad_fn, order)
    grads: dict[Any, dict[int, Any]] = {result.grad_fn: {result.output_nr: torch.ones_like(result)}}
    for node in reversed(order):
        come = grads.pop(node, {})
        if getattr(node, "variable", None) is given:
            found: torch.Tensor | None = come.get(0)
            return found
        if come and not hasattr(node, "variable"):
            _pass_on(node, come, grads)
    return None


def _visit(node: Any, order: list[Any]) -> None:
    if node is not None and node not in order:
        for following, _ in node.next_functions:
            _visit(following, order)
        order.append(node)


def _pass_on(node: Any, come: dict[int, Any], grads: dict[Any, dict[int, Any]]) -> None:
    made = node(*(come.get(place) for place in range(len(node._input_metadata))))
    made = made if isinstance(made, tuple) else (made,)
    for (following, place), grad in zip(node.next_functions, made, strict=True):
        if following is not None and grad is not None:
            slots = grads.setdefault(following, {})
            slots[place] = grad if place not in slots else slots[place] + grad


def message(**asked: Any) -> list[str | None]:
    """Return the error of a wrong call, and its hint."""
    try:
        install(**asked)
    except RegistryError as error:
        return [str(error), error.hint]
    return []


SNAPSHOT = load("0.2.0+torch2.13")
KERNELS = {
    op: kernel
    for op, kernel in declared().items()
    if lowers(kernel, SNAPSHOT) and kernel.here and not kernel.noise and not kernel.dynamic
}
COLLECTED = {
    op: samples
    for op, samples in collect(KERNELS.values(), ["float32", "int8", "int32", "int64"]).items()
    if samples.calls
}
initialise()
before, lost = lowered(), gradients()
planned = [asdict(one) for one in install(dry_run=True)]
still = lowered()
part = [one.op for one in install(only=["aten.trace"])]
wrong = message(only=["aten.trac.default"])
installed = [asdict(one) for one in install()]
again = [asdict(one) for one in install()]
json.dump(
    {
        "before": before,
        "planned": planned,
        "still": still,
        "part": part,
        "above": sorted(filter(runs_above, COLLECTED)),
        "wrong": wrong,
        "installed": installed,
        "again": again,
        "after": lowered(),
        "lost": lost,
        "kept": gradients(),
    },
    sys.stdout,
)
