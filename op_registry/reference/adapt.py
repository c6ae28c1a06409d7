"""Makes a kernel callable as the dispatcher calls.

It shows scalar tensors to Python as numbers, and hands ops that can read them lazily conjugated or
negated tensors.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from op_registry.reference.declare import Kernel

_TENSOR = frozenset({"Tensor", "Optional[Tensor]"})


def adapted(function: Kernel, schema: Any) -> Kernel:
    """Return ``function`` with plain tensors for its arguments, as ``schema`` has them.

    Numbers become tensors without dimensions, of torch's default dtype and on the device of the
    call's tensors, so that type promotion goes as it would with the number.
    """
    takes = [str(argument.type) in _TENSOR for argument in schema.arguments]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = pytree.tree_map_only(torch.Tensor, _resolved, (args, kwargs))
        if any(takes[place] and _is_number(arg) for place, arg in enumerate(args)):
            device = _device((args, kwargs))
            args = tuple(
                torch.full((), arg, device=device) if takes[place] and _is_number(arg) else arg
                for place, arg in enumerate(args)
            )
        return function(*args, **kwargs)

    return call


def _resolved(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.resolve_conj().resolve_neg() if tensor.is_conj() or tensor.is_neg() else tensor


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex)


def _device(tree: Any) -> torch.device:
    leaves = pytree.tree_leaves(tree)
    devices = [leaf.device for leaf in leaves if isinstance(leaf, torch.Tensor)]
    return devices[0] if devices else torch.device("cpu")
