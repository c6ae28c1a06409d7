"""The dispatch mode that sees every call and the ledger it writes them to."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from tpu_audit.trace import costs, values
from tpu_audit.types.errors import NotAuditedError, Stage
from tpu_audit.types.trace import OpUse, Role, Scalar, SourceLine, TensorRef

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.trace.cuts import Cuts
    from tpu_audit.trace.places import Places

aten = torch.ops.aten
_NOT_CALLS = {torch.ops.prim.device.default, aten.is_pinned.default}
_NOT_THE_DEVICES = frozenset({"profiler"})
"""Namespaces of ops that only talk to the host's own tools."""
_DEVICES = frozenset({"tpu", "cpu", "meta"})
_PLACEMENT = {"device", "layout", "pin_memory", "requires_grad"}
_POSITIONS = {"start", "end", "index", "storage_offset"}
"""Arguments that say where in a tensor, not what to compute: they decide nothing."""


class _Entry:
    """One distinct call, being counted."""

    __slots__ = ("bytes", "count", "first", "flops", "guesses", "modules", "read", "sources")

    def __init__(self, first: OpUse) -> None:
        self.first = first
        self.count = self.bytes = self.guesses = 0
        self.flops: int | None = 0
        self.read = False
        self.modules: dict[str, None] = {}
        self.sources: dict[SourceLine, None] = {}

    def close(self) -> OpUse:
        """Freeze the counts."""
        first = self.first
        return OpUse(
            op=first.op,
            count=self.count,
            inputs=first.inputs,
            outputs=first.outputs,
            args=first.args,
            flops=self.flops,
            bytes=self.bytes,
            modules=tuple(self.modules),
            sources=tuple(self.sources),
            guesses=self.guesses,
            host_read=self.read,
            grad_inputs=first.grad_inputs,
            role=first.role,
        )


class Ledger:
    """The calls of one phase."""

    def __init__(self) -> None:
        self.cpu_ops: Counter[str] = Counter()
        self.entries: dict[Any, _Entry] = {}

    def uses(self) -> tuple[OpUse, ...]:
        """All distinct calls on the device, in order of first appearance."""
        return tuple(entry.close() for entry in self.entries.values())


class Recorder(TorchDispatchMode):
    """Sees each op overload as the backend would, above the fake tensors.

    Calls are written to the ledger of the phase that is under way, under the role that is.
    """

    def __init__(self, places: Places) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's
        self.ledgers: dict[str, Ledger] = {}
        self.role: Role | None = None
        """Who issues calls now; None: a module of the model, or else generation."""
        self.cuts: Cuts | None = None
        """Where the forward pass of training is cut off from autograd."""
        self._places = places
        self._ledger: Ledger | None = None

    def enter(self, phase: str | None) -> None:
        """Write calls down for ``phase`` from now on; for None: not at all."""
        self._ledger = None if phase is None else self.ledgers.setdefault(phase, Ledger())

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run one call and write it down."""
        del types
        kwargs = kwargs or {}
        if func in _NOT_CALLS or func.namespace in _NOT_THE_DEVICES:
            return func(*args, **kwargs)
        if decomposes_before_backend(func):
            with self:
                out = func.decompose(*args, **kwargs)
            if out is not NotImplemented:
                return out
        outcome = values.call(func, args, kwargs)
        if self._ledger is not None and not _unseen:
            self._record(self._ledger, func, args, kwargs, outcome)
        return outcome.out

    def _record(
        self,
        ledger: Ledger,
        func: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        outcome: values.Outcome,
    ) -> None:
        op = op_name(func)
        given, made = tensors_in((args, kwargs)), tensors_in(outcome.out)
        if _on_host(given, made):
            ledger.cpu_ops[op] += 1
            return
        inputs, outputs = tuple(map(tensor_ref, given)), tuple(map(tensor_ref, made))
        arguments = scalar_args(func, args, kwargs)
        role = self.role or self._places.role
        key = (op, role, inputs, outputs, tuple(arguments.items()))
        entry = ledger.entries.get(key)
        if entry is None:
            grad = any(tensor.requires_grad for tensor in given)
            first = OpUse(
                op=op,
                count=0,
                inputs=inputs,
                outputs=outputs,
                args=arguments,
                grad_inputs=grad,
                role=role,
            )
            entry = ledger.entries[key] = _Entry(first)
        if self.cuts is not None and role is Role.MODEL:
            self.cuts.note(func, op, given)
        entry.count += 1
        flops = costs.flops(func, args, kwargs, outcome.out)
        entry.flops = None if flops is None or entry.flops is None else entry.flops + flops
        entry.bytes += costs.bytes_moved(func, given, made)
        entry.guesses += outcome.guessed
        entry.read |= outcome.host_read
        module, source = self._places.place(role)
        entry.modules[module] = None
        if source is not None:
            entry.sources[source] = None


_unseen: list[None] = []


@contextmanager
def unseen() -> Iterator[None]:
    """Write nothing down: what runs inside stands for something that calls no op."""
    _unseen.append(None)
    try:
        yield
    finally:
        _unseen.pop()


_composite: dict[Any, bool] = {}


def decomposes_before_backend(func: Any) -> bool:
    """Tell a composite that only inference mode, or a call from below autograd, shows us."""
    found = _composite.get(func)
    if found is None:
        name, has = func.name(), torch._C._dispatch_has_kernel_for_dispatch_key
        found = _composite[func] = (
            has(name, "CompositeImplicitAutograd")
            and not has(name, "PrivateUse1")
            and not values.traits(func).reads_data
        )
    return found


def op_name(func: Any) -> str:
    """``aten.add.Tensor``."""
    return f"{func.namespace}.{func._opname}.{func._overloadname}"


_dtype_names: dict[torch.dtype, str] = {}


def tensor_ref(tensor: torch.Tensor) -> TensorRef:
    """Describe a tensor."""
    name = _dtype_names.get(tensor.dtype)
    if name is None:
        name = _dtype_names[tensor.dtype] = str(tensor.dtype).removeprefix("torch.")
    return TensorRef(dtype=name, shape=tuple(tensor.shape), device=tensor.device.type)


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Return the tensors of an op's arguments or results in order: what pytree does, but faster."""
    found: list[torch.Tensor] = []
    _collect(value, found)
    return found


def _collect(value: Any, found: list[torch.Tensor]) -> None:
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, list | tuple):
        for part in value:
            _collect(part, found)
    elif isinstance(value, dict):
        for part in value.values():
            _collect(part, found)


def _on_host(given: list[torch.Tensor], made: list[torch.Tensor]) -> bool:
    devices = {t.device.type for t in (*given, *made)}
    if elsewhere := devices - _DEVICES:
        # Fake tensors can be anywhere; a TPU host cannot.
        raise NotAuditedError(
            f"a tensor was put on the device {', '.join(sorted(elsewhere))!r}, "
            "which a TPU host does not have",
            stage=Stage.TRACE,
            code="other_device",
            hint="make it where the other tensors are: `device=x.device`",
        )
    return devices == {"cpu"}


_deciding: dict[Any, tuple[tuple[int, str], ...]] = {}


def _deciding_arguments(func: Any) -> tuple[tuple[int, str], ...]:
    """Return position and name of the arguments that may decide what is computed, once an op."""
    found = _deciding.get(func)
    if found is None:
        names = [argument.name for argument in func._schema.arguments]
        kept = [(i, n) for i, n in enumerate(names) if n not in _PLACEMENT | _POSITIONS]
        found = _deciding[func] = tuple(kept)
    return found


def scalar_args(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Scalar]:
    """Non-tensor arguments that decide what is computed, by schema name."""
    found: dict[str, Scalar] = {}
    for position, name in _deciding_arguments(func):
        if position < len(args):
            value = args[position]
        elif name in kwargs:
            value = kwargs[name]
        else:
            continue
        if not _has_tensor(value):
            found[name] = _plain(value)
    return found


def _has_tensor(value: Any) -> bool:
    if isinstance(value, list | tuple | dict):
        return any(isinstance(leaf, torch.Tensor) for leaf in tree_leaves(value))
    return isinstance(value, torch.Tensor)


def _plain(value: Any) -> Scalar:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return "[" + ", ".join(str(_plain(v)) for v in value) + "]"
    return str(value).removeprefix("torch.")
