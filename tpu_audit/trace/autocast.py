"""Autocast on the pretended TPU: kernels that cast as the wheel's do, then hand the call on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_map

from op_registry.schema import AutocastPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    from op_registry.schema import Snapshot

    Caster = Callable[[torch.Tensor], torch.Tensor]

_KEY: Any = torch._C._dispatch_key_parse("AutocastPrivateUse1")
# Weights cast once and used again until the outermost autocast ends; with the weight, so that no
# other tensor can take its id.
_cached: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}


def install(snapshot: Snapshot) -> tuple[torch.library.Library, ...]:
    """Register a casting kernel for every aten op that ``snapshot`` has a policy for.

    All others pass by. The kernels stay as long as the libraries that are returned.
    """
    rest = torch.library.Library("_", "IMPL", "AutocastPrivateUse1")
    rest.fallback(torch.library.fallthrough_kernel)
    library = torch.library.Library("aten", "IMPL", "AutocastPrivateUse1")
    for record in snapshot.ops.values():
        name = record.op.removeprefix("aten.")
        if record.autocast_policy is not None and name != record.op:
            packet, _, overload = name.partition(".")
            op = getattr(getattr(torch.ops.aten, packet), overload)
            kernel = _kernel(op, record.autocast_policy, snapshot.backend)
            library.impl(name.removesuffix(".default"), kernel)
    _forget_casts_with_torch()
    return library, rest


def _kernel(op: Any, policy: AutocastPolicy, device: str) -> Callable[..., Any]:
    guard = torch._C._ExcludeDispatchKeyGuard
    keys = torch._C.DispatchKeySet(_KEY)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with guard(keys):
            if policy is AutocastPolicy.FP32_RESULT:
                return op(*args, **_with_wide_result(args, kwargs, device))
            args, kwargs = _cast_all((args, kwargs), policy, device)
            return op(*args, **kwargs)

    return kernel


def _with_wide_result(args: tuple[Any, ...], kwargs: dict[str, Any], device: str) -> dict[str, Any]:
    first = args[0] if args else None
    named = kwargs.get("dtype") is not None
    if named or not isinstance(first, torch.Tensor) or not _eligible(first, device):
        return kwargs
    return {**kwargs, "dtype": torch.float32}


def _cast_all(given: Any, policy: AutocastPolicy, device: str) -> Any:
    """Return the arguments with floating-point tensors on the device cast as ``policy`` says."""
    low = torch.get_autocast_dtype(device)
    wanted = torch.float32
    if policy is AutocastPolicy.LOWER_PRECISION:
        wanted = low
    elif policy is AutocastPolicy.PROMOTE:
        wanted = _widest(given, low, device)

    def cast(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or not _eligible(leaf, device):
            return leaf
        if leaf.dtype is wanted:
            return leaf
        return _remembered(leaf, wanted) if wanted is low else leaf.to(wanted)

    return tree_map(cast, given)


def _widest(given: Any, low: torch.dtype, device: str) -> torch.dtype:
    """Return float32 where some argument has it, else the dtype that autocast was asked for."""
    wide = False

    def look(leaf: Any) -> None:
        nonlocal wide
        if isinstance(leaf, torch.Tensor) and _eligible(leaf, device):
            wide |= leaf.dtype is torch.float32

    tree_map(look, given)
    return torch.float32 if wide else low


def _eligible(tensor: torch.Tensor, device: str) -> bool:
    there = tensor.device.type == device
    return there and tensor.is_floating_point() and tensor.dtype is not torch.float64


def _remembered(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Cast ``tensor``; a weight once only, as torch's own autocast does."""
    weight = tensor.dtype is torch.float32 and tensor.requires_grad and tensor.is_leaf
    if not (weight and torch.is_autocast_cache_enabled()) or tensor._is_view():
        return tensor.to(dtype)
    if id(tensor) not in _cached:
        with torch.enable_grad():  # it may be used again where gradients are asked for
            _cached[id(tensor)] = tensor, tensor.to(dtype)
    return _cached[id(tensor)][1]


def _forget_casts_with_torch() -> None:
    """Empty the cache whenever torch empties its own: when the outermost autocast ends."""
    clear = torch.clear_autocast_cache

    def cleared() -> None:
        _cached.clear()
        clear()

    torch.clear_autocast_cache = cleared
