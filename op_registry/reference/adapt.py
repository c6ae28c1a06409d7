"""Makes a kernel callable as the dispatcher calls: it shows scalar tensors to Python as numbers."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from op_registry.reference.declare import Kernel

_TENSOR = frozenset({"Tensor", "Optional[Tensor]"})


def adapted(function: Kernel, schema: Any) -> Kernel:
    """Return ``function`` with numbers made tensors where ``schema`` has a tensor.

    They take the device of the call's tensors and torch's default dtype, and have no dimensions, so
    that type promotion goes as it would with the number.
    """
    takes = [str(argument.type) in _TENSOR for argument in schema.arguments]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if any(takes[place] and _is_number(arg) for place, arg in enumerate(args)):
            device = _device((args, kwargs))
            args = tuple(
                torch.full((), arg, device=device) if takes[place] and _is_number(arg) else arg
                for place, arg in enumerate(args)
            )
        return function(*args, **kwargs)

    return call


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex)


def _device(tree: Any) -> torch.device:
    leaves = pytree.tree_leaves(tree)
    devices = [leaf.device for leaf in leaves if isinstance(leaf, torch.Tensor)]
    return devices[0] if devices else torch.device("cpu")
