"""Where a forward pass is cut off from autograd, and which parameters lie behind the cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable

_cuts: dict[Any, bool] = {}


def detaches(func: Any) -> bool:
    """Tell the ops whose output autograd loses on the device.

    Those are composites, which autograd would differentiate piece by piece, with a kernel of the
    device over them, for which neither a derivative nor an autograd kernel exists.
    """
    found = _cuts.get(func)
    if found is None:
        name, has = func.name(), torch._C._dispatch_has_kernel_for_dispatch_key
        found = _cuts[func] = (
            has(name, "CompositeImplicitAutograd")
            and has(name, "PrivateUse1")
            and not has(name, "AutogradPrivateUse1")
            and not has(name, "Autograd")
        )
    return found


class Cuts:
    """The calls that cut, in order, with what was behind each."""

    def __init__(self) -> None:
        self._calls: list[tuple[str, list[Any]]] = []

    def note(self, func: Any, op: str, flat: Iterable[Any]) -> None:
        """Keep a call if its op detaches and an argument required a gradient."""
        if not (torch.is_grad_enabled() and detaches(func)):
            return
        behind = [t for t in flat if isinstance(t, torch.Tensor) and t.requires_grad]
        if behind:
            self._calls.append((op, [t.grad_fn or t for t in behind]))

    def __bool__(self) -> bool:
        """Whether any call cut."""
        return bool(self._calls)

    def forget(self) -> None:
        """Start anew."""
        self._calls.clear()

    def by_parameter(self) -> dict[int, str]:
        """Return id of parameter -> op of the first call that cut it off."""
        found: dict[int, str] = {}
        for op, behind in self._calls:
            for parameter in _parameters(behind):
                found.setdefault(id(parameter), op)
        return found


def _parameters(behind: list[Any]) -> Iterable[torch.Tensor]:
    """Yield the leaves that the graph behind these nodes ends in."""
    seen: set[Any] = set()
    todo = list(behind)
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        if isinstance(node, torch.Tensor):
            yield node
            continue
        seen.add(node)
        if (leaf := getattr(node, "variable", None)) is not None:
            yield leaf
        todo += [step for step, _ in node.next_functions]
