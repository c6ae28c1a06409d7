"""Compares a kernel's result with eager PyTorch's: types, shapes and values."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree

_USUAL = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
"""Dtype -> relative and absolute tolerance: those of ``torch.testing.assert_close``."""
WIDER = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}
"""Dtype -> the next wider one, in which a result counts as exact."""
_NO_WORSE = 2.0
"""Times eager's own largest error that a result may be off where it is not close to eager's."""


def widened(tree: Any) -> Any:
    """Return ``tree`` with every tensor and dtype in the next wider floating-point type."""

    def wider(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.dtype in WIDER:
            return value.to(WIDER[value.dtype])
        return WIDER.get(value, value) if isinstance(value, torch.dtype) else value

    return pytree.tree_map(wider, tree)


def difference(ours: Any, theirs: Any, exact: Any = None, *, tolerance: float = 1.0) -> str:
    """Return in words how ``ours`` differs from eager's ``theirs``; empty when it does not.

    ``exact`` is eager's result in a wider type, where there is one: a value is right when it is
    close to either, or off by no more than eager itself. ``tolerance`` scales the dtype's usual
    tolerance; 0 asks for equality with ``theirs``.
    """
    mine, spec = pytree.tree_flatten(ours)
    others, other_spec = pytree.tree_flatten(theirs)
    if len(mine) != len(others):
        return f"returns {spec} where eager returns {other_spec}"
    wide = pytree.tree_leaves(exact)
    if len(wide) != len(others) or tolerance == 0:
        wide = [None] * len(others)
    for place, (a, b, c) in enumerate(zip(mine, others, wide, strict=True)):
        if found := _leaf(a, b, c, tolerance):
            return f"output {place}: {found}" if len(mine) > 1 else found
    return ""


def _leaf(ours: Any, theirs: Any, exact: Any, tolerance: float) -> str:
    if not isinstance(theirs, torch.Tensor) or not isinstance(ours, torch.Tensor):
        nan = ours != ours and theirs != theirs  # noqa: PLR0124
        same = type(ours) is type(theirs) and (ours == theirs or nan)
        return "" if same else f"{ours!r} where eager has {theirs!r}"
    if ours.dtype != theirs.dtype:
        return f"dtype {ours.dtype} where eager has {theirs.dtype}"
    if ours.shape != theirs.shape:
        return f"shape {list(ours.shape)} where eager has {list(theirs.shape)}"
    right = _right(ours, theirs, exact, tolerance)
    return "" if bool(right.all()) else _describe(ours, theirs, ~right)


def _right(ours: torch.Tensor, theirs: torch.Tensor, exact: Any, scale: float) -> torch.Tensor:
    if theirs.dtype not in _USUAL or scale == 0:
        nan = (ours != ours) & (theirs != theirs)  # noqa: PLR0124 - also for integers
        return (ours == theirs) | nan
    rtol, atol = (scale * part for part in _USUAL[theirs.dtype])
    a, b = _wide(ours), _wide(theirs)
    right = torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    if not isinstance(exact, torch.Tensor) or exact.shape != ours.shape:
        return right
    c = _wide(exact)
    worst = (b - c).abs().nan_to_num(nan=0.0, posinf=0.0).max() if b.numel() else 0.0
    right |= torch.isclose(a, c, rtol=rtol, atol=atol, equal_nan=True)
    return right | ((a - c).abs() <= _NO_WORSE * worst)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _describe(ours: torch.Tensor, theirs: torch.Tensor, wrong: torch.Tensor) -> str:
    place = wrong.nonzero()[0].tolist()
    mine, other = ours[wrong][0].item(), theirs[wrong][0].item()
    count = int(wrong.sum())
    return f"{count} of {wrong.numel()} values differ, at {place}: {mine} where eager has {other}"
