"""Runs a composite op's own kernel so that the calls it makes come back to a dispatch mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from op_registry.build.table import composite_key, dotted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from op_registry.build.table import Entry

_KEYS = torch._C.DispatchKey


class CompositeMode(TorchDispatchMode):
    """A mode that sees every op, one level after the other, down to what is no composite.

    ``table`` decides what is a composite: what the backend's key resolves to, on any device.
    """

    def __init__(self, table: Mapping[str, Entry]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.table = table
        self._open: list[str] = []

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Hand the call to ``composite`` or ``leaf``."""
        del types  # the protocol has it
        name = dotted(func.name())
        args = _with_tensors(func, args)
        entry = self.table.get(name)
        key = composite_key(entry) if entry else None
        if key is None:
            return self.leaf(name, func, args, kwargs or {})
        if self._open and self._open[-1] == name:
            # The last step of some views calls the same op on the level below this mode.
            return func(*args, **(kwargs or {}))
        return self.composite(name, func, getattr(_KEYS, key), args, kwargs or {})

    def composite(
        self, name: str, func: Any, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run the composite kernel of ``func`` with this mode on."""
        self._open.append(name)
        try:
            with self:
                return func._op_dk(key, *args, **kwargs)
        finally:
            self._open.pop()

    def leaf(self, name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run ``func``, which is no composite, as it is."""
        del name  # for those who note it
        return func(*args, **kwargs)


def _with_tensors(func: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Undo the dispatcher's courtesy of showing scalar tensors to Python as numbers.

    Most ops of ``aten`` would not take the number back; other namespaces mean it.
    """
    if func.namespace != "aten":
        return args
    return tuple(
        torch.tensor(arg)
        if isinstance(arg, bool | int | float | complex) and _wants(taken)
        else arg
        for arg, taken in zip(args, func._schema.arguments, strict=False)
    )


def _wants(argument: Any) -> bool:
    return str(argument.type) in {"Tensor", "Optional[Tensor]"}
