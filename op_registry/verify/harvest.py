"""Collects, at one dtype, the sample calls that torch's own test inputs and hand-made ones give."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.collectives import collective_samples
from op_registry.build.samples.extra import extra_calls
from op_registry.build.samples.handmade.declare import handmade_samples, makers
from op_registry.build.samples.harvest import Harvester
from op_registry.build.samples.suite import Source, function_calls, module_calls
from op_registry.evidence import DTYPES, compute_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from op_registry.build.samples.sample import Sample
    from op_registry.build.table import Entry

MOST_CANDIDATES = 24
"""Kept of one op while harvesting; the most telling of them become its samples."""
_ALSO = {"int64": (torch.float32,), "bool": (torch.float32,), "complex64": (torch.float32,)}
"""Where an entry does not take the dtype itself, calls at it may lie inside one at another."""


def harvest(table: Mapping[str, Entry], dtype: str) -> dict[str, list[Sample]]:
    """Return sample calls at ``dtype``, or without tensors, by op; the most telling first.

    Hand-made ones stand before those that were found.
    """
    kind: torch.dtype = getattr(torch, dtype)
    harvester = Harvester(
        table, most=MOST_CANDIDATES, wanted=lambda sample: filed_under(sample) in {None, dtype}
    )
    for source in _sources(kind, _ALSO.get(dtype, ())):
        harvester.watch(source)
    found = {op: ordered(samples) for op, samples in harvester.found.items()}
    if kind is torch.float32:
        found |= collective_samples(table)
    for op in sorted(makers().keys() & table.keys()):
        with contextlib.suppress(Exception):  # some cannot be made at some dtypes
            found[op] = [*_made_for(dtype, handmade_samples(op, kind)), *found.get(op, ())]
    return found


def filed_under(sample: Sample) -> str | None:
    """Return the dtype under which ``sample`` counts, None when it has no tensor."""
    if sample.counts_at:
        return sample.counts_at
    return compute_dtype(str(t.dtype).removeprefix("torch.") for t in sample.tensors())


def _made_for(dtype: str, samples: Sequence[Sample]) -> Iterator[Sample]:
    """Yield ``samples``; those at dtypes that have no place of their own count at ``dtype``."""
    for sample in samples:
        elsewhere = filed_under(sample) not in {*DTYPES, None}
        yield replace(sample, counts_at=dtype) if elsewhere else sample


def ordered(samples: Sequence[Sample]) -> list[Sample]:
    """Return ``samples`` with the most telling ones first.

    Those with empty tensors come last; before them, each choice of the other arguments has its turn
    before one of them comes again, and of a choice the call with more elements comes first.
    """
    turns: Counter[str] = Counter()
    ranked = []
    for sample in sorted(samples, key=_size, reverse=True):
        choice = sample.choice()
        ranked.append((_has_empty(sample), turns[choice], sample))
        turns[choice] += 1
    return [sample for *_, sample in sorted(ranked, key=lambda ranks: ranks[:2])]


def _size(sample: Sample) -> int:
    """Count elements, up to a size beyond which more of them show nothing more."""
    return min(sum(t.numel() for t in sample.tensors()), 64)


def _has_empty(sample: Sample) -> bool:
    return any(t.numel() == 0 for t in sample.tensors())


def _sources(kind: torch.dtype, also: Sequence[torch.dtype]) -> Iterator[Source]:
    yield from function_calls((kind, *also))
    if kind.is_floating_point:
        yield from module_calls(kind)
    with _default_dtype(kind if kind.is_floating_point else torch.float32):
        yield Source(forward=_possible(extra_calls()), backward=iter(()))


def _possible(calls: Iterator[Callable[[], object]]) -> Iterator[Callable[[], object]]:
    """Yield the calls up to the first whose tensors cannot be made at this dtype."""
    with contextlib.suppress(Exception):
        yield from calls


@contextlib.contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
