"""Looks whether the backend's kernel cuts its outputs off from autograd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree
from torch_tpu._internal import execution_mode

from op_registry.build.twins import Twins

if TYPE_CHECKING:
    from op_registry.build.samples.sample import Sample

_TRACING = execution_mode.EagerMode._INTERNAL_COMPILE_FX_GRAPH


def detached(func: Any, sample: Sample) -> bool | None:
    """Tell whether an output requires a gradient on the CPU and none on the backend.

    None when neither does, or when one of them refuses the call.
    """
    twins = Twins()
    try:
        with execution_mode.set_eager_mode(_TRACING), torch.enable_grad():
            ours = _requiring(func, pytree.tree_map(twins.to_backend, _given(sample)))
        on_cpu = _requiring(func, _given(sample.copied()))
    except Exception:  # noqa: BLE001  # foreign code: a refusal shows nothing of gradients
        return None
    if not any(on_cpu):
        return None
    return any(one and not other for one, other in zip(on_cpu, ours, strict=True))


def _given(sample: Sample) -> Any:
    return sample.args, sample.kwargs


def _requiring(func: Any, given: Any) -> list[bool]:
    """Return which of the tensors that ``func`` returns require a gradient, all inputs doing so."""
    args, kwargs = pytree.tree_map_only(torch.Tensor, _leaf, given)
    outputs = pytree.tree_leaves(func(*args, **kwargs))
    return [one.requires_grad for one in outputs if isinstance(one, torch.Tensor)]


def _leaf(tensor: torch.Tensor) -> torch.Tensor:
    differentiable = tensor.is_floating_point() or tensor.is_complex()
    return tensor.detach().requires_grad_(differentiable)
