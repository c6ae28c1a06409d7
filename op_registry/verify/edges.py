"""Calls at the edge: NaN, infinity, halves, the largest numbers, indices out of range.

Test inputs avoid these, and kernels differ there. An edge changes the first tensor that it fits,
in few elements, so that the shapes and with them the program stay what they are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from op_registry.verify.rebuild import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_INDICES = frozenset({"index", "indices", "target", "targets"})
"""Arguments whose numbers name places in another tensor."""
_HALVES = (0.5, -0.5, 1.5, -1.5, 2.5, -2.5)
FAR = 1_000_003
"""An index beyond any sample's sizes."""


def edged(call: Call, edge: str) -> Call | None:
    """Return ``call`` at ``edge``, one of ``EDGES``; None when it has no tensor for it."""
    fits, change = EDGES[edge]
    changed = False

    def once(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal changed
        if changed or tensor.numel() == 0 or not fits(tensor):
            return tensor
        changed = True
        return change(tensor.clone())

    values = dict(call.values)
    for argument in call.func._schema.arguments:
        name = argument.name
        if not argument.is_out and (name in _INDICES) == (edge == "indices"):
            values[name] = _mapped(values[name], once)
    return Call(op=call.op, func=call.func, values=values) if changed else None


def _mapped(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, list):
        return [_mapped(one, change) for one in value]
    return change(value) if isinstance(value, torch.Tensor) else value


def _is_float(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point()


def _is_number(tensor: torch.Tensor) -> bool:
    return not tensor.is_complex() and tensor.dtype is not torch.bool


def _is_index(tensor: torch.Tensor) -> bool:
    return tensor.dtype in {torch.int32, torch.int64}


def _nan(tensor: torch.Tensor) -> torch.Tensor:
    tensor.view(-1)[0] = math.nan
    return tensor


def _infinity(tensor: torch.Tensor) -> torch.Tensor:
    tensor.view(-1)[0] = math.inf
    tensor.view(-1)[-1] = -math.inf
    return tensor


def _halves(tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.view(-1)
    repeated = _HALVES * (flat.numel() // len(_HALVES) + 1)
    flat.copy_(torch.tensor(repeated[: flat.numel()]))
    return tensor


def _extremes(tensor: torch.Tensor) -> torch.Tensor:
    if _is_float(tensor):
        # One of them only: two of opposite signs cancel, and the order of a sum decides the rest.
        tensor.view(-1)[0] = torch.finfo(tensor.dtype).max
        return tensor
    tensor.view(-1)[0] = torch.iinfo(tensor.dtype).max
    tensor.view(-1)[-1] = torch.iinfo(tensor.dtype).min
    return tensor


def _far(tensor: torch.Tensor) -> torch.Tensor:
    tensor.view(-1)[0] = FAR
    return tensor


EDGES: Mapping[
    str, tuple[Callable[[torch.Tensor], bool], Callable[[torch.Tensor], torch.Tensor]]
] = {
    "nan": (_is_float, _nan),
    "infinity": (_is_float, _infinity),
    "halves": (_is_float, _halves),
    "extremes": (_is_number, _extremes),
    "indices": (_is_index, _far),
}
"""Name -> which tensors it fits, and what it does to one."""
