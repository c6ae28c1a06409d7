"""Collects sample calls of every op that torch's own test inputs reach on the CPU."""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.reenter import CompositeMode
from op_registry.build.samples.collectives import collective_samples
from op_registry.build.samples.extra import extra_calls
from op_registry.build.samples.sample import Sample
from op_registry.build.samples.suite import Source, function_calls, module_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from op_registry.build.table import Entry

MOST_SAMPLES = 8
"""Kept of one op, of different shapes, dtypes or arguments."""
_MOST_ALIKE = 2
"""Of these, with the same arguments besides the tensors, which choose an op's path."""


def harvest(table: Mapping[str, Entry]) -> dict[str, list[Sample]]:
    """Return up to ``MOST_SAMPLES`` sample calls of each op that was reached, by op."""
    harvester = Harvester(table)
    for source in itertools.chain(function_calls(), module_calls()):
        harvester.watch(source)
    harvester.watch(Source(forward=extra_calls(), backward=iter(())))
    return harvester.found | collective_samples(table)


class Harvester(CompositeMode):
    """Notes the arguments of every call that it sees.

    It keeps up to ``most`` calls of an op, of those that are ``wanted``.
    """

    def __init__(
        self,
        table: Mapping[str, Entry],
        *,
        most: int = MOST_SAMPLES,
        wanted: Callable[[Sample], bool] = lambda _: True,
    ) -> None:
        super().__init__(table)
        self.found: dict[str, list[Sample]] = {}
        self._kept: Counter[tuple[str, str]] = Counter()
        self._most = most
        self._wanted = wanted
        self._tolerance: tuple[float, float] | None = None

    def watch(self, source: Source) -> None:
        """Make the calls of ``source``; those that fail have been seen up to where they did."""
        self._tolerance = source.tolerance
        # In inference mode even the ops that autograd would take apart reach a dispatch mode whole.
        for call in source.forward:
            with contextlib.suppress(Exception), torch.inference_mode(), self:
                call()
        for call in source.backward:
            with contextlib.suppress(Exception), self:
                _backward(call())

    def composite(
        self, name: str, func: Any, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Note the call of a composite, then go into it."""
        self._keep(name, args, kwargs)
        return super().composite(name, func, key, args, kwargs)

    def leaf(self, name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note the call of a leaf, then make it."""
        self._keep(name, args, kwargs)
        return super().leaf(name, func, args, kwargs)

    def _keep(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        kept = self.found.setdefault(name, [])
        sample = Sample(args=args, kwargs=kwargs, tolerance=self._tolerance)
        if len(kept) >= self._most or not sample.usable() or not self._wanted(sample):
            return
        exact, alike = (name, sample.signature()), (name, sample.choice())
        if not self._kept[exact] and self._kept[alike] < _MOST_ALIKE:
            self._kept.update({exact, alike})
            kept.append(sample.copied())


def _backward(result: Any) -> None:
    outputs = [
        t for t in pytree.tree_leaves(result) if isinstance(t, torch.Tensor) and t.requires_grad
    ]
    # Threads of the engine would ask the backend for its devices, and it has none.
    with torch.autograd.set_multithreading_enabled(False):
        torch.autograd.backward(outputs, [torch.ones_like(t) for t in outputs])
