"""Which module and line of the model each step of the backward pass belongs to."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tpu_audit.types.trace import SourceLine

Place = tuple[str, "SourceLine | None"]
"""Module path and the line that made the node, where one is known."""
_NOWHERE: Place = ("", None)


class Tape:
    """Remembers, while the forward pass runs, where autograd's nodes are made.

    Nodes are numbered in the order in which they are made. A mark says that all nodes made since
    the mark before it come from one place.
    """

    def __init__(self, owners: Mapping[int, str]) -> None:
        """``owners`` are the ids of parameters with the paths of the modules that own them."""
        self._counts: list[int] = []
        self._places: list[Place] = []
        self._owners = owners
        self._last: Place = _NOWHERE

    def mark(self, module: str, source: SourceLine | None = None) -> None:
        """Say where the nodes since the last mark were made."""
        count: int = torch.autograd._get_sequence_nr()  # type: ignore[attr-defined]
        if not self._counts or count > self._counts[-1]:
            self._counts.append(count)
            self._places.append((module, source))

    def current(self) -> Place:
        """Return the place of the node that runs in the backward pass now.

        Between nodes autograd adds up gradients: they belong to the node before.
        """
        node: Any = torch._C._current_autograd_node()
        if node is not None:
            self._last = self._of(node)
        return self._last

    def _of(self, node: Any) -> Place:
        parameter = getattr(node, "variable", None)
        if parameter is not None:
            return self._owners.get(id(parameter), ""), None
        at = bisect_left(self._counts, node._sequence_nr() + 1)
        return self._places[at] if at < len(self._places) else _NOWHERE
