"""Fake tensors on a device that is not there, and the patches that models need to run on them."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.optim import optimizer
from torch.utils import _foreach_utils
from torch.utils._device import _device_constructors

from tpu_audit.trace import metas
from tpu_audit.trace.shadow import known_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class FakeMode(FakeTensorMode):
    """FakeTensorMode that never touches the device.

    Without ``avoid_device_init`` a ``torch.tensor(data, device="tpu")`` would allocate for real.
    """

    avoid_device_init = True  # a property upstream


def fake_mode() -> FakeMode:
    """Make the mode that all building and running happens in."""
    metas.register()
    return FakeMode(allow_non_fake_inputs=True)


@contextmanager
def patched_for_fakes() -> Iterator[None]:
    """Replace, for the time of a trace, what torch does to tensors that fakes cannot bear."""
    apply, fmt = nn.Module._apply, FakeTensor.__format__
    tensor, as_tensor = torch.tensor, torch.as_tensor
    _device_constructors()  # remembered at its first call: with the originals
    nn.Module._apply = _apply_by_replacing  # type: ignore[method-assign]
    FakeTensor.__format__ = _format_known  # type: ignore[method-assign,assignment]
    FakeTensor.__setitem__ = _set_by_scalars  # type: ignore[method-assign,assignment]
    FakeTensor.__deepcopy__ = _copied  # type: ignore[method-assign,assignment]
    torch.tensor = _reading_scalars(tensor)
    torch.as_tensor = _reading_scalars(as_tensor)
    # Optimizers and gradient clipping take the foreach kernels only for classes they know.
    for known in (optimizer._foreach_supported_types, _foreach_utils._foreach_supported_types):
        known.append(FakeTensor)
    try:
        yield
    finally:
        for known in (optimizer._foreach_supported_types, _foreach_utils._foreach_supported_types):
            known.remove(FakeTensor)
        torch.tensor, torch.as_tensor = tensor, as_tensor
        nn.Module._apply = apply  # type: ignore[method-assign]
        FakeTensor.__format__ = fmt  # type: ignore[method-assign]
        del FakeTensor.__setitem__, FakeTensor.__deepcopy__


def _apply_by_replacing(
    module: nn.Module, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True
) -> nn.Module:
    """``Module._apply`` without ``swap_tensors``: that refuses weakly referenced tensors."""
    seen: dict[int, nn.Parameter] = {}
    for sub in module.modules() if recurse else (module,):
        for name, old in sub._parameters.items():
            if old is not None and id(old) not in seen:
                seen[id(old)] = _replaced(old, fn)
            if old is not None:
                sub._parameters[name] = seen[id(old)]
        for name, buffer in sub._buffers.items():
            if buffer is not None:
                sub._buffers[name] = fn(buffer)
    return module


def _replaced(old: nn.Parameter, fn: Callable[[torch.Tensor], torch.Tensor]) -> nn.Parameter:
    with torch.no_grad():
        new = fn(old)
    return old if new is old else nn.Parameter(new, requires_grad=old.requires_grad)


def _reading_scalars(construct: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Let ``torch.tensor`` take lists that hold tensors of one element.

    It reads them in C++, below the dispatch modes, where a fake has no data; read here, each is
    the same host read, and seen.
    """

    @functools.wraps(construct)
    def constructed(data: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        if isinstance(data, list | tuple) and not torch.compiler.is_compiling():
            data = _read_scalars(data)
        return construct(data, *args, **kwargs)

    return constructed


def _set_by_scalars(tensor: FakeTensor, index: Any, value: Any) -> None:
    """Assign at an index that may hold sequences of tensors of one element: the same C++ read."""
    if isinstance(index, tuple) and any(isinstance(part, list | tuple) for part in index):
        index = _read_scalars(index)
    torch.Tensor.__setitem__(tensor, index, value)


def _copied(tensor: FakeTensor, memo: dict[int, Any]) -> Any:
    """Copy without the storage, which a fake keeps on another device than it says."""
    if id(tensor) not in memo:
        copy = tensor.detach().clone()
        parameter = isinstance(tensor, nn.Parameter)
        memo[id(tensor)] = nn.Parameter(copy, tensor.requires_grad) if parameter else copy
    return memo[id(tensor)]


def _read_scalars(data: Any) -> Any:
    """Return ``data`` with its tensors of one element read; by hand, as Dynamo follows pytrees."""
    if type(data) in {list, tuple}:
        return type(data)(_read_scalars(part) for part in data)
    return data.item() if isinstance(data, FakeTensor) and data.numel() == 1 else data


def _format_known(tensor: FakeTensor, spec: str) -> str:
    """Format a scalar by its known value: models build names such as ``f"expert_{i}"`` so."""
    value: Any = known_value(tensor)
    if tensor.dim() == 0:
        return format(0 if value is None else value.item(), spec)
    return object.__repr__(tensor)
