"""Samples of the functional collectives, over a process group that moves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

from op_registry.build.samples.family import call
from op_registry.build.table import overload_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from op_registry.build.samples.sample import Sample

NAMESPACES = frozenset({"_c10d_functional", "_c10d_functional_autograd"})
_WORLD = 2
_SIZE = 4
_POINT_TO_POINT = ("irecv", "isend", "batch_p2p_ops")
"""Between two ranks: the group that moves nothing has no other side for them."""


def collective_samples(ops: Iterable[str]) -> dict[str, list[Sample]]:
    """Return a sample of each functional collective among ``ops``."""
    if not dist.is_initialized():
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=_WORLD)
    values = _values()
    found = {}
    for op in ops:
        namespace, name, _ = op.split(".")
        if namespace not in NAMESPACES or name in _POINT_TO_POINT:
            continue
        func = overload_of(op)
        if func is not None and (made := call(func._schema, values, _outputs(name))):
            found[op] = [made]
    return found


def _outputs(name: str) -> list[torch.Tensor]:
    return [torch.ones(_SIZE // _WORLD if "reduce_scatter" in name else _SIZE * _WORLD)]


def _values() -> dict[str, Any]:
    one = torch.ones(_SIZE)
    half = [_SIZE // _WORLD] * _WORLD
    return {
        "input": one,
        "tensor": one,
        "inputs": [one, one],
        "group_name": "default" if dist.group.WORLD is None else dist.group.WORLD.group_name,
        "group_size": _WORLD,
        "reduce_op": "sum",
        "src": 0,
        "output_split_sizes": half,
        "input_split_sizes": half,
    }
