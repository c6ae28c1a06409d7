"""What a call costs: floating-point operations by torch's counter, and bytes moved."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_map
from torch.utils.flop_counter import (
    FlopCounterMode,
    flop_registry,
    mm_flop,
    sdpa_backward_flop,
    sdpa_flop,
)

if TYPE_CHECKING:
    from collections.abc import Callable

aten = torch.ops.aten
Shape = tuple[int, ...]


def _linear(x: Shape, weight: Shape, *_: Any, **__: Any) -> int:
    return int(mm_flop((prod(x[:-1]), x[-1]), tuple(reversed(weight))))


def _linear_backward(x: Shape, grad: Shape, weight: Shape, wanted: list[bool]) -> int:
    """One product for the gradient of the input, one for that of the weight."""
    del grad
    return _linear(x, weight) * (wanted[0] + wanted[1])


def _grouped(x: Shape, mat2: Shape, *_: Any, **__: Any) -> int:
    # Every row meets one group's matrix, whatever the sizes of the groups.
    rows = prod(x[:-1])
    return int(mm_flop((rows, x[-1]), (mat2[-2], mat2[-1])))


def _attention(query: Shape, key: Shape, value: Shape, *_: Any, **__: Any) -> int:
    """Attention of any rank: leading dimensions are batch and heads."""
    shapes = [(prod(s[:-3]), *s[-3:]) for s in (query, key, value)]
    return int(sdpa_flop(*shapes))


def _attention_backward(
    grad: Shape, query: Shape, key: Shape, value: Shape, *_: Any, **__: Any
) -> int:
    shapes = [(prod(s[:-3]), *s[-3:]) for s in (grad, query, key, value)]
    return int(sdpa_backward_flop(*shapes))


# Ops that this backend keeps whole and torch's counter has no row for, expressed by its formulas.
_WHOLE: dict[Any, Callable[..., int]] = {
    aten.linear: _linear,
    aten.linear_backward: _linear_backward,
    aten._grouped_mm: _grouped,
    aten._scaled_dot_product_cudnn_attention: _attention,
    aten._scaled_dot_product_fused_attention_overrideable: _attention,
    aten._scaled_dot_product_cudnn_attention_backward: _attention_backward,
    aten._scaled_dot_product_fused_attention_overrideable_backward: _attention_backward,
}
_DECOMPOSED = {aten.lstm, aten.gru}
"""Kept whole too; counted by running their composite definition under torch's counter."""


def flops(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> int | None:
    """Floating-point operations of one call; None where the formula does not fit the shapes."""
    packet = func._overloadpacket
    formula = _WHOLE.get(packet)
    try:
        if formula is not None:
            shapes = tree_map(_shape, (args, kwargs))
            return formula(*shapes[0], **shapes[1])
        if packet in flop_registry:
            return int(flop_registry[packet](*args, **kwargs, out_val=out))
        return _count_decomposed(func, args, kwargs) if packet in _DECOMPOSED else 0
    except (AssertionError, ValueError, TypeError, IndexError):
        return None


def _shape(leaf: Any) -> Any:
    return tuple(leaf.shape) if isinstance(leaf, torch.Tensor) else leaf


def _count_decomposed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    counter = FlopCounterMode(display=False)
    with counter:
        func.decompose(*args, **kwargs)
    return int(counter.get_total_flops())


def bytes_moved(func: Any, given: list[torch.Tensor], made: list[torch.Tensor]) -> int:
    """Bytes that a call reads and writes, each tensor once; 0 for views and bare allocations."""
    moves = _moves.get(func)
    if moves is None:
        bare = func._schema.name.startswith(("aten::empty", "aten::new_empty"))
        moves = _moves[func] = not bare and not is_view(func)
    if not moves:
        return 0
    tensors = {id(tensor): tensor for tensor in (*given, *made)}
    return sum(t.numel() * t.element_size() for t in tensors.values())


_moves: dict[Any, bool] = {}
"""Op overload -> whether its calls move bytes: a schema is slow to ask."""


def is_view(func: Any) -> bool:
    """Tell the ops whose result shares the input's storage."""
    returns = func._schema.returns
    return bool(returns) and all(
        r.alias_info is not None and not r.alias_info.is_write for r in returns
    )
