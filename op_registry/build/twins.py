"""Placeholder tensors on the backend, each with a twin on the CPU that holds values."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch_tpu._internal.compile import tpu_torch_compile

DEVICE = "tpu"


class Twins:
    """Knows the twin of every placeholder, for as long as it lives itself."""

    def __init__(self) -> None:
        # The placeholder is kept too: its id must not come to mean another tensor.
        self._pairs: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def placeholder(self, twin: torch.Tensor) -> torch.Tensor:
        """Return a new placeholder shaped like ``twin``."""
        made: torch.Tensor = tpu_torch_compile.placeholder(list(twin.shape), twin.dtype)
        self._pairs[id(made)] = (made, twin)
        return made

    def to_backend(self, value: Any) -> Any:
        """Return what stands for one CPU argument on the backend."""
        if isinstance(value, torch.Tensor):
            return self.placeholder(value)
        if isinstance(value, torch.device):
            return torch.device(DEVICE)
        return None if isinstance(value, torch.Generator) else value

    def of(self, tree: Any) -> Any | None:
        """Return ``tree`` with twins for placeholders, None when one of them has no twin."""
        return None if self.lacks(tree) else pytree.tree_map(self._twin, tree)

    def lacks(self, tree: Any) -> bool:
        """Tell whether a tensor of ``tree`` on the backend has no twin."""
        return any(
            isinstance(leaf, torch.Tensor)
            and leaf.device.type == DEVICE
            and id(leaf) not in self._pairs
            for leaf in pytree.tree_leaves(tree)
        )

    def pair(self, result: Any, expected: Any) -> None:
        """Make the tensors of ``expected`` the twins of those of ``result``."""
        mine, twins = pytree.tree_leaves(result), pytree.tree_leaves(expected)
        for tensor, twin in zip(mine, twins, strict=True):
            if isinstance(tensor, torch.Tensor):
                self._pairs[id(tensor)] = (tensor, twin)

    def stand_in(self, expected: Any, given: Any, twins: Any) -> Any:
        """Return placeholders shaped like ``expected``; an output that is an input stays it.

        ``twins`` are those of the arguments ``given``.
        """
        mine = {
            id(twin): argument
            for twin, argument in zip(
                pytree.tree_leaves(twins), pytree.tree_leaves(given), strict=True
            )
            if isinstance(twin, torch.Tensor)
        }
        return pytree.tree_map_only(
            torch.Tensor, lambda t: mine[id(t)] if id(t) in mine else self.placeholder(t), expected
        )

    def _twin(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.device.type == DEVICE:
            return self._pairs[id(value)][1]
        return torch.device("cpu") if isinstance(value, torch.device) else value
