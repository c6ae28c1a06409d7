"""Chooses the samples of an op: from torch's own inputs, else its relatives', else made up."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from op_registry.build.samples import generic
from op_registry.build.samples.family import Families
from op_registry.build.samples.trial import outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import torch

    from op_registry.build.samples.sample import Sample

NAMESPACES = frozenset({"aten", "prims", "quantized_decomposed"})
"""Where arguments may be made up. Elsewhere calls talk to process groups, profilers or streams."""
_RAW_POINTERS = ("fbgemm", "_saturate_weight_to_fp16")
"""CPU code behind a composite's name: it writes to any tensor's memory as if it were the host's."""
_MOST_DERIVED = 3


class Sampler:
    """Gives the samples of any op, in a fixed order.

    ``dtypes`` are those of made-up tensors. Of an op with fewer than ``fewest`` known samples the
    relatives' are taken as well.
    """

    def __init__(
        self,
        harvested: Mapping[str, Sequence[Sample]],
        *,
        dtypes: Sequence[torch.dtype] = generic.DTYPES,
        fewest: int = 1,
    ) -> None:
        self._harvested = harvested
        self._dtypes = dtypes
        self._fewest = fewest
        self._families = Families(harvested)

    def samples(self, op: str, func: Any) -> list[Sample]:
        """Return samples of ``op`` that the CPU accepts, the most telling first; maybe none."""
        found = list(self._harvested.get(op, ()))
        namespace, name, _ = op.split(".")
        unsafe = namespace not in NAMESPACES or name.startswith(_RAW_POINTERS)
        if len(found) >= self._fewest or unsafe:
            return found
        made_up = iter(()) if found else generic.samples(func, self._dtypes)
        tried = itertools.chain(self._families.samples(op, func), made_up)
        runs = (sample for sample in tried if outcome(func, sample)[0])
        return found + list(itertools.islice(runs, _MOST_DERIVED))
