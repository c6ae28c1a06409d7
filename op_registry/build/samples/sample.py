"""One sample call, and the few things done with it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_ELEMENTS = 100_000
"""Larger tensors say nothing more about an op and cost time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """Arguments of one call, all tensors on the CPU."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def copied(self) -> Sample:
        """Return the same call on fresh tensors, so that in-place ops spoil nothing."""
        args, kwargs = pytree.tree_map_only(
            torch.Tensor, lambda t: t.detach().clone(), (self.args, self.kwargs)
        )
        return Sample(args=args, kwargs=kwargs)

    def tensors(self) -> list[torch.Tensor]:
        """Return all tensors among the arguments."""
        leaves = pytree.tree_leaves((self.args, self.kwargs))
        return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    def usable(self) -> bool:
        """Tell whether placeholders can stand for all tensors: plain, strided and small."""
        return all(
            type(t) in {torch.Tensor, torch.nn.Parameter}
            and t.layout is torch.strided
            and not t.is_quantized
            and not t.is_nested
            and t.device.type == "cpu"
            and t.numel() <= MOST_ELEMENTS
            for t in self.tensors()
        )

    def signature(self) -> str:
        """Return a text that two samples share when they exercise an op alike."""
        return self._described(lambda t: (tuple(t.shape), str(t.dtype)))

    def choice(self) -> str:
        """Return a text for the arguments that choose a path: all that are no tensors."""
        return self._described(lambda t: (t.dim(), str(t.dtype)))

    def _described(self, describe: Callable[[torch.Tensor], Any]) -> str:
        return repr(pytree.tree_map_only(torch.Tensor, describe, (self.args, self.kwargs)))


def seed() -> None:
    """Make the samples that follow the same in every run."""
    random.seed(0)
    torch.manual_seed(0)
