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
from op_registry.build.samples.suite import function_calls, module_calls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from op_registry.build.table import Entry

MOST_SAMPLES = 8
"""Kept of one op, of different shapes, dtypes or arguments."""
_MOST_ALIKE = 2
"""Of these, with the same arguments besides the tensors, which choose an op's path."""


def harvest(table: Mapping[str, Entry]) -> dict[str, list[Sample]]:
    """Return up to ``MOST_SAMPLES`` sample calls of each op that was reached, by op."""
    harvester = _Harvester(table)
    for forward, backward in itertools.chain(function_calls(), module_calls()):
        # In inference mode even the ops that autograd would take apart reach a dispatch mode whole.
        for call in forward:
            with contextlib.suppress(Exception), torch.inference_mode(), harvester:
                call()
        for call in backward:
            with contextlib.suppress(Exception), harvester:
                _backward(call())
    for call in extra_calls():
        with contextlib.suppress(Exception), torch.inference_mode(), harvester:
            call()
    return harvester.found | collective_samples(table)


class _Harvester(CompositeMode):
    """Notes the arguments of every call that it sees."""

    def __init__(self, table: Mapping[str, Entry]) -> None:
        super().__init__(table)
        self.found: dict[str, list[Sample]] = {}
        self._kept: Counter[tuple[str, str]] = Counter()

    def composite(
        self, name: str, func: Any, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        self._keep(name, Sample(args=args, kwargs=kwargs))
        return super().composite(name, func, key, args, kwargs)

    def leaf(self, name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._keep(name, Sample(args=args, kwargs=kwargs))
        return super().leaf(name, func, args, kwargs)

    def _keep(self, name: str, sample: Sample) -> None:
        kept = self.found.setdefault(name, [])
        if len(kept) >= MOST_SAMPLES or not sample.usable():
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
