"""The samples of any op overload at one dtype."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.samples.sampler import Sampler
from op_registry.build.samples.trial import outcome
from op_registry.evidence import compute_dtype
from op_registry.verify.harvest import filed_under, harvest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from op_registry.build.samples.sample import Sample
    from op_registry.build.table import Entry

MOST_SAMPLES = 8
"""Of one op at one dtype."""
_FEWEST = 3
"""With fewer samples of its own an op gets its relatives' as well."""


class Cases:
    """Gives the samples of any op of ``table`` at ``dtype``, the same in every run.

    Making one takes some seconds to a minute: it runs torch's own test inputs.
    """

    def __init__(self, table: Mapping[str, Entry], dtype: str) -> None:
        self.dtype = dtype
        self._sampler = Sampler(
            harvest(table, dtype), dtypes=(getattr(torch, dtype),), fewest=_FEWEST
        )

    def samples(self, op: str, func: Any) -> list[Sample]:
        """Return up to ``MOST_SAMPLES`` samples, the most telling first; maybe none.

        All tensors are contiguous and share no memory.
        """
        found = map(_materialised, self._sampler.samples(op, func))
        return [sample for sample in found if self._counts_here(func, sample)][:MOST_SAMPLES]

    def _counts_here(self, func: Any, sample: Sample) -> bool:
        """Tell whether ``sample`` is usable and counts at this dtype, by its outputs if need be."""
        if not sample.usable():
            return False
        filed = filed_under(sample)
        if filed is None:
            result = pytree.tree_leaves(outcome(func, sample)[1])
            made = [t for t in result if isinstance(t, torch.Tensor)]
            filed = compute_dtype(str(t.dtype).removeprefix("torch.") for t in made)
        return filed == self.dtype


def _materialised(sample: Sample) -> Sample:
    copied = sample.copied()
    args, kwargs = pytree.tree_map_only(
        torch.Tensor,
        lambda t: t.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format),
        (copied.args, copied.kwargs),
    )
    return replace(copied, args=args, kwargs=kwargs)
