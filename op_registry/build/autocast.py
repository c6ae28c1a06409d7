"""Finds how autocast casts the arguments of each op that the backend registers for it.

The dispatch table names a kernel at AutocastPrivateUse1, not what it does. Called on fake tensors
under autocast, the kernel casts its arguments before it hands the call on, so that whatever
arguments fit the op's schema show the casts, even where the op then refuses them.
"""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from op_registry.build.table import overload_of
from op_registry.schema import AutocastPolicy, Resolution

if TYPE_CHECKING:
    from collections.abc import Mapping

    from op_registry.build.table import Entry

_LOW, _FULL = torch.bfloat16, torch.float32
_CAST = torch.ops.aten._to_copy.default
_LIST = 3
"""Elements of lists of integers whose length the schema leaves open."""

Casts = frozenset[torch.dtype]


def policies(table: Mapping[str, Entry], device: str) -> dict[str, AutocastPolicy]:
    """Return how each op with an autocast kernel casts; ops that show nothing are left out."""
    found = {}
    for op, entry in table.items():
        func = overload_of(op) if entry.autocast is Resolution.KERNEL else None
        policy = observe_policy(func, device) if func is not None else None
        if policy is not None:
            found[op] = policy
    return found


def observe_policy(func: Any, device: str) -> AutocastPolicy | None:
    """Return how the autocast kernel of ``func`` casts, None when no call shows it.

    The op is called with all tensors in float32, all in bfloat16, and the first alone in bfloat16.
    """
    full, _ = _casts(func, device, (_FULL,))
    low, asked = _casts(func, device, (_LOW,))
    mixed, _ = _casts(func, device, (_LOW, _FULL))
    if _LOW in full:
        return AutocastPolicy.LOWER_PRECISION
    if _FULL in low:
        return AutocastPolicy.FP32
    if asked:
        return AutocastPolicy.FP32_RESULT
    return AutocastPolicy.PROMOTE if _FULL in mixed else None


def _casts(func: Any, device: str, dtypes: tuple[torch.dtype, ...]) -> tuple[Casts, bool]:
    """Call ``func`` under autocast; return the dtypes it cast to, and if it was asked for float32.

    The n-th tensor argument has the n-th dtype, those beyond the last of them.
    """
    with FakeTensorMode(allow_non_fake_inputs=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args, kwargs = _arguments(func._schema, device, dtypes)
        first_casts = _FirstCasts(func)
        autocast = torch.autocast(device, dtype=_LOW)
        with torch.no_grad(), autocast, contextlib.suppress(Exception), first_casts:
            func(*args, **kwargs)
    return frozenset(first_casts.seen), first_casts.asked


class _Handed(Exception):  # noqa: N818  # no error: the kernel has done what was asked of it
    """The autocast kernel has handed the call on."""


class _FirstCasts(TorchDispatchMode):
    """Notes the casts until the call goes on, and ends it there."""

    def __init__(self, func: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's
        self.seen: list[torch.dtype] = []
        self.asked = False
        self._func = func

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run casts; the first other call is what the op does itself."""
        kwargs = kwargs or {}
        if func is _CAST:
            self.seen.append(kwargs.get("dtype"))
            return func(*args, **kwargs)
        if func.namespace == "prim":
            return func(*args, **kwargs)
        self.asked = kwargs.get("dtype") is _FULL
        raise _Handed


def _arguments(
    schema: Any, device: str, dtypes: tuple[torch.dtype, ...]
) -> tuple[list[Any], dict[str, Any]]:
    """Make an argument of its type for each parameter without a default."""
    tensors = 0

    def tensor() -> torch.Tensor:
        nonlocal tensors
        dtype = dtypes[min(tensors, len(dtypes) - 1)]
        tensors += 1
        return torch.empty((2, 2), dtype=dtype, device=device)

    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for parameter in schema.arguments:
        if parameter.has_default_value():
            continue
        value = _value(str(parameter.type), tensor)
        if parameter.kwarg_only:
            kwargs[parameter.name] = value
        else:
            args.append(value)
    return args, kwargs


def _value(kind: str, tensor: Any) -> Any:
    simple = {"int": 1, "float": 0.5, "bool": False, "number": 1, "Scalar": 1, "str": "none"}
    if kind == "Tensor":
        return tensor()
    if kind == "List[Tensor]":
        return [tensor(), tensor()]
    if kind.startswith("List["):
        return [simple.get(kind[5:-1], 1)] * _LIST
    return None if kind.startswith("Optional[") else simple.get(kind)
