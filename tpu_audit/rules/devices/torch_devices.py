"""Expressions that hold a ``torch.device`` rather than a device's text."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpu_audit.rules.python.module import Module
    from tpu_audit.rules.python.scopes import Binding

_TENSOR = re.compile(
    r"(?:^|_)(?:model|x|y|z|q|k|v|tensor|weight|bias|inputs?|outputs?|logits|query|key|value|image|img"
    r"|pixel_values|input_ids|hidden_states|attention_mask|grad|param|parameter|data|mask|feats?"
    r"|images|imgs|masks|boxes|tensors|features|embeddings|tokens|samples|frames|latents)$"
)
"""Names that hold tensors."""
_DEPTH = 5


def is_torch_device(node: ast.expr, module: Module, depth: int = _DEPTH) -> bool:
    """Tell whether all that an expression may hold is a ``torch.device``."""
    if isinstance(node, ast.Call):
        return module.is_named(node.func, "torch.device", "torch.accelerator.current_accelerator")
    if isinstance(node, ast.IfExp):
        arms = (node.body, node.orelse)
        return bool(depth) and all(is_torch_device(arm, module, depth - 1) for arm in arms)
    if isinstance(node, ast.Name):
        bindings = module.scopes.bindings(node)
        known = (depth and _binds_device(binding, module, depth) for binding in bindings)
        return bool(bindings) and all(known)
    return isinstance(node, ast.Attribute) and node.attr == "device" and _of(node, module, depth)


def _binds_device(binding: Binding, module: Module, depth: int) -> bool:
    if isinstance(binding.node, ast.arg):
        hint = binding.node.annotation
        return isinstance(hint, ast.Attribute | ast.Name) and module.is_named(hint, "torch.device")
    return binding.value is not None and is_torch_device(binding.value, module, depth - 1)


def _of(node: ast.Attribute, module: Module, depth: int) -> bool:
    """Tell whether ``.device`` is a tensor's, or a class's own that holds a ``torch.device``."""
    holder = node.value
    if isinstance(holder, ast.Name) and holder.id in {"self", "cls"}:
        stored = module.classes.stored(node)
        return bool(stored) and all(is_torch_device(s, module, depth - 1) for s in stored)
    if isinstance(holder, ast.Call):
        return getattr(holder.func, "id", "") == "next"
    if isinstance(holder, ast.Name):
        bindings = module.scopes.bindings(holder)
        if any(_gives_parameters(b.value) for b in bindings):
            return True
        hints = [getattr(b.node, "annotation", None) for b in bindings]
        if any(h is not None and module.is_named(h, "torch.Tensor") for h in hints):
            return True
        return not any(hints) and _TENSOR.search(holder.id) is not None
    return isinstance(holder, ast.Attribute) and _TENSOR.search(holder.attr) is not None


def _gives_parameters(node: ast.expr | None) -> bool:
    """Tell what a loop over ``model.parameters()`` runs over."""
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {
        "parameters",
        "buffers",
    }
