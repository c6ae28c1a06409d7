"""Puts a sample's arguments into JSON, so that a reader can tell samples apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from op_registry.build.samples.family import bind

if TYPE_CHECKING:
    from op_registry.build.samples.sample import Sample


def arguments(func: Any, sample: Sample) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments that are no tensors, defaults included, and the tensors, by name.

    Numbers, texts, lists and None stay themselves; all else is its ``repr``. A tensor is
    ``["float32", [2, 3]]``; an argument that is a list of tensors is a list of those.
    """
    values = bind(func._schema, sample)
    plain, tensors = {}, {}
    for argument in func._schema.arguments:
        value = values.get(argument.name, argument.default_value)
        if any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(value)):
            tensors[argument.name] = _tensors(value)
        else:
            plain[argument.name] = _plain(value)
    return plain, tensors


def unanswered(func: Any, sample: Sample, index: int) -> dict[str, Any]:
    """Return the record of a sample that has not been tried."""
    plain, tensors = arguments(func, sample)
    return {
        "index": index,
        "arguments": plain,
        "tensors": tensors,
        "lowered": None,
        "program": None,
        "values": None,
        "flags": [],
        "undefined": [],
        "tolerance": list(sample.tolerance) if sample.tolerance else None,
    }


def _tensors(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_tensors(one) for one in value]
    if isinstance(value, torch.Tensor):
        return [str(value.dtype).removeprefix("torch."), list(value.shape)]
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    return value if value is None or isinstance(value, bool | int | str) else repr(value)
