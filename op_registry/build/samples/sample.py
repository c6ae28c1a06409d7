"""One sample call, and the few things done with it."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
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
    tolerance: tuple[float, float] | None = None
    """Absolute and relative error that torch's own tests allow the function it was taken from,
    where they allow more than usual."""
    counts_at: str | None = None
    """The dtype it was made for, where its tensors have others (``float8_e4m3fn``)."""

    def copied(self) -> Sample:
        """Return the same call on fresh tensors, so that in-place ops spoil nothing."""
        args, kwargs = pytree.tree_map_only(
            torch.Tensor, lambda t: t.detach().clone(), (self.args, self.kwargs)
        )
        return replace(self, args=args, kwargs=kwargs)

    def tensors(self) -> list[torch.Tensor]:
        """Return all tensors among the arguments."""
        found: list[torch.Tensor] = []
        _collect((self.args, self.kwargs), found)
        return found

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
        return _described((self.args, self.kwargs), _shape)

    def choice(self) -> str:
        """Return a text for the arguments that choose a path: all that are no tensors."""
        return _described((self.args, self.kwargs), _rank)


def _collect(value: Any, found: list[torch.Tensor]) -> None:
    # Not by pytree: half a million calls pass through here.
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, list | tuple):
        for one in value:
            _collect(one, found)
    elif isinstance(value, dict):
        _collect(tuple(value.values()), found)


def _described(value: Any, describe: Callable[[torch.Tensor], str]) -> str:
    if isinstance(value, torch.Tensor):
        return describe(value)
    if isinstance(value, list | tuple):
        return f"[{','.join([_described(one, describe) for one in value])}]"
    if isinstance(value, dict):
        return f"{list(value)}{_described(tuple(value.values()), describe)}"
    return repr(value)


def _shape(tensor: torch.Tensor) -> str:
    return f"{tensor.dtype}{list(tensor.shape)}"


def _rank(tensor: torch.Tensor) -> str:
    return f"{tensor.dtype}{tensor.dim()}"


def seed() -> None:
    """Make the samples that follow the same in every run."""
    random.seed(0)
    # Not torch.manual_seed: the backend would look for its devices each time.
    torch.default_generator.manual_seed(0)
