"""Keeps the gradient of ops whose TPU kernel stands where autograd would have taken them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable


def keeping_gradient(overload: Any) -> Callable[..., Any]:
    """Return a function for AutogradPrivateUse1 in place of ``overload``'s fallthrough.

    A call that needs a gradient runs PyTorch's own composite definition, whose pieces autograd
    differentiates; any other call goes on to the TPU kernel.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        if torch.is_grad_enabled() and _requires_grad((args, kwargs)):
            return overload.decompose(*args, **kwargs)
        with torch._C._AutoDispatchBelowAutograd():
            return overload(*args, **kwargs)

    return call


def _requires_grad(tree: Any) -> bool:
    leaves = pytree.tree_leaves(tree)
    return any(isinstance(leaf, torch.Tensor) and leaf.requires_grad for leaf in leaves)
