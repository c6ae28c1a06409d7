"""Known values of fake tensors.

Token ids, masks, position ids, grids: small tensors that derive only from the inputs and the
config are computed for real on the CPU beside their fake, so that the model's control flow on
them is exact. A shadow shares storage with the shadows it is a view of, as real tensors do.
"""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.utils._pytree import TreeSpec, tree_leaves, tree_unflatten

MAX_INTEGERS = 1 << 20
"""Largest integer or boolean tensor, in elements, that is computed: keeps memory flat."""
MAX_FLOATS = 1 << 20
"""Largest floating-point tensor, in elements: rotary tables, additive masks, not activations."""

_ATTRIBUTE = "_tpu_audit_shadow"
# Storages of shadows that an unknown value was written into. The tensor in the value keeps the
# storage alive, so that no later shadow can be mistaken for it.
_spoiled: dict[int, torch.Tensor] = {}


def forget_all() -> None:
    """Start a new trace: no storage is spoiled."""
    _spoiled.clear()


def known_value(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the real CPU tensor that ``tensor`` holds, or None when it depends on weights."""
    if not isinstance(tensor, FakeTensor):
        return tensor if tensor.device.type == "cpu" else None
    shadow: torch.Tensor | None = getattr(tensor, _ATTRIBUTE, None)
    if shadow is None:
        if tensor.constant is None:
            return None
        # A copy: FakeTensorMode computes on its constants itself, in place as well.
        shadow = tensor.constant.clone()
        setattr(tensor, _ATTRIBUTE, shadow)
    return None if _storage(shadow) in _spoiled else shadow


def attach(tensor: torch.Tensor, value: torch.Tensor) -> None:
    """Declare that ``tensor`` (a fake) holds ``value`` (real, on the CPU, of the same shape)."""
    if isinstance(tensor, FakeTensor) and tensor.shape == value.shape:
        setattr(tensor, _ATTRIBUTE, value)


def spoil(tensor: torch.Tensor) -> None:
    """Record that an unknown value was written into ``tensor`` and so into all its views."""
    shadow: torch.Tensor | None = getattr(tensor, _ATTRIBUTE, None)
    if shadow is not None:
        _spoiled[_storage(shadow)] = shadow


def forget(tensor: torch.Tensor) -> None:
    """Drop what is known of ``tensor``: its value will come from a checkpoint."""
    if getattr(tensor, _ATTRIBUTE, None) is not None:
        setattr(tensor, _ATTRIBUTE, None)


def small(tensor: torch.Tensor) -> bool:
    """Tell whether a tensor is small enough to be computed for real."""
    floating = tensor.dtype.is_floating_point or tensor.dtype.is_complex
    return stored(tensor) <= (MAX_FLOATS if floating else MAX_INTEGERS)


def stored(tensor: torch.Tensor) -> int:
    """Count the elements in memory: a mask expanded over a model's width holds few."""
    return prod(
        size
        for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
        if stride or not size
    )


def compute(func: Any, flat: list[Any], spec: TreeSpec) -> tuple[bool, Any]:
    """Run ``func`` for real when all its tensors are known; (known, result)."""
    real: list[Any] = []
    for leaf in flat:
        if isinstance(leaf, torch.Tensor):
            value = known_value(leaf)
            if value is None:
                return False, None
            real.append(value)
        else:
            real.append(torch.device("cpu") if isinstance(leaf, torch.device) else leaf)
    args, kwargs = tree_unflatten(real, spec)
    try:
        with unset_fake_temporarily():
            return True, func(*args, **kwargs)
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
        # The fake run has its own say on wrong calls; here it only means "not known".
        return False, None


def attach_all(out: Any, values: Any) -> None:
    """Attach the tensors of a real result to the fakes of the same call's fake result."""
    for fake, value in zip(tree_leaves(out), tree_leaves(values), strict=False):
        if isinstance(fake, torch.Tensor) and isinstance(value, torch.Tensor):
            attach(fake, value)


def _storage(tensor: torch.Tensor) -> int:
    address: int = tensor.untyped_storage()._cdata
    return address
