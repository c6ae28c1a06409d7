"""What counts as the results of a call: the tensors it returns, and those it writes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.samples.family import bind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from op_registry.build.samples.sample import Sample


def written(func: Any, sample: Sample, *, only_out: bool = False) -> frozenset[int]:
    """Return the places, among the sample's tensors, that the op's schema says it writes to.

    ``only_out`` leaves those that are no ``out=`` arguments aside.
    """
    values = bind(func._schema, sample)
    targets = {
        id(leaf)
        for argument in func._schema.arguments
        if argument.alias_info is not None
        and argument.alias_info.is_write
        and (argument.is_out or not only_out)
        for leaf in pytree.tree_leaves(values.get(argument.name))
        if isinstance(leaf, torch.Tensor)
    }
    return frozenset(place for place, one in enumerate(sample.tensors()) if id(one) in targets)


def outputs(result: Any, changed: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the tensors of ``result``, then those of ``changed`` that are not among them."""
    returned = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    known = {id(tensor) for tensor in returned}
    return [*returned, *(tensor for tensor in changed if id(tensor) not in known)]
