"""Ops whose kernel on the TPU has a gradient of its own, which calls no further op.

The dispatch table shows a kernel over a composite and nothing for autograd. In eager mode the
kernel makes a node of autograd itself, and that node's backward is a kernel as well: both
directions are one call each, the second of which the dispatcher never sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from tpu_audit.trace.recorder import unseen

if TYPE_CHECKING:
    from collections.abc import Callable

    from op_registry.schema import Snapshot


class _Whole(torch.autograd.Function):
    """One op forward; backward gradients like the inputs, from no op."""

    @staticmethod
    def forward(ctx: Any, op: Any, spec: Any, *flat: Any) -> Any:
        tensors = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
        ctx.save_for_backward(*tensors)
        ctx.tensors = [isinstance(leaf, torch.Tensor) for leaf in flat]
        args, kwargs = tree_unflatten(list(flat), spec)
        with torch._C._AutoDispatchBelowAutograd():
            return op(*args, **kwargs)

    @staticmethod
    def backward(ctx: Any, *_grads: Any) -> Any:
        saved = iter(ctx.saved_tensors)
        wanted = ctx.needs_input_grad[2:]
        found: list[Any] = []
        with unseen():
            for is_tensor, needs in zip(ctx.tensors, wanted, strict=True):
                tensor = next(saved) if is_tensor else None
                found.append(torch.empty_like(tensor) if tensor is not None and needs else None)
        return None, None, *found


def install(snapshot: Snapshot) -> torch.library.Library:
    """Keep the gradient of the ops of which the registry says that eager mode keeps it."""
    library = torch.library.Library("aten", "IMPL", "AutogradPrivateUse1")
    for record in snapshot.ops.values():
        name = record.op.removeprefix("aten.")
        if record.eager_gradient and name != record.op:
            packet, _, overload = name.partition(".")
            op = getattr(getattr(torch.ops.aten, packet), overload)
            library.impl(name.removesuffix(".default"), whole(op))
    return library


def whole(op: Any) -> Callable[..., Any]:
    """Return an autograd kernel for ``op`` that keeps it in one piece in both directions."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        flat, spec = tree_flatten((args, kwargs))
        tensors = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
        if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
            return _Whole.apply(op, spec, *flat)  # type: ignore[no-untyped-call]
        with torch._C._AutoDispatchBelowAutograd():
            return op(*args, **kwargs)

    return kernel
