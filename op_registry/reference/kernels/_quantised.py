"""Arithmetic and checks that the ops of ``quantized_decomposed`` share."""

from __future__ import annotations

import torch

_FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def quantised(
    x: torch.Tensor,
    inverse: float | torch.Tensor,
    zero_point: int | torch.Tensor,
    low: int | torch.Tensor,
    high: int | torch.Tensor,
    dtype: torch.dtype,
) -> torch.Tensor:
    """Return round(x * inverse) + zero_point, held within [low, high], as ``dtype``."""
    whole = (x * inverse).round() + zero_point
    if isinstance(low, torch.Tensor) or isinstance(high, torch.Tensor):
        return whole.maximum(like(low, whole)).minimum(like(high, whole)).to(dtype)
    return whole.clamp(low, high).to(dtype)


def dequantised(
    x: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor | None,
    dtype: torch.dtype | None,
) -> torch.Tensor:
    """Return (x - zero_point) * scale as ``dtype``, f32 if None."""
    shifted = x if zero_point is None else x - zero_point
    return (shifted * scale).to(dtype or torch.float32)


def scaled(x: torch.Tensor, scale: float | torch.Tensor) -> torch.Tensor:
    """Return ``x`` * ``scale``, which is not rounded to the dtype of a half-precision ``x``."""
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    factor = scale.to(wide) if isinstance(scale, torch.Tensor) else scale
    return (x.to(wide) * factor).to(x.dtype)


def one(tensor: torch.Tensor) -> torch.Tensor:
    """Return the element of ``tensor`` without dimensions; the host does not wait for it."""
    if tensor.numel() != 1:
        raise RuntimeError(f"Expecting a tensor of one element, but received: {tensor.numel()}")
    return tensor.reshape(())


def like(bound: int | torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Return ``bound`` as a tensor without dimensions, of the dtype and device of ``x``."""
    if isinstance(bound, torch.Tensor):
        return bound.reshape(()).to(x.dtype)
    return torch.full((), bound, dtype=x.dtype, device=x.device)


def check_float(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` as f32; raise RuntimeError unless it is that, bfloat16 or float16."""
    if x.dtype not in _FLOATS:
        raise RuntimeError(f"Expecting input to have dtype torch.float32/16/b16, got {x.dtype}")
    return x.float()


def check_given(x: torch.Tensor, dtype: torch.dtype) -> None:
    """Raise RuntimeError unless ``x`` has the dtype that the call says it has."""
    if x.dtype != dtype:
        raise RuntimeError(f"Expecting input to have dtype {dtype}, but got {x.dtype}")


def check_groups(x: torch.Tensor, scales: torch.Tensor, size: int) -> int:
    """Return how many elements of a row of ``x`` (rows, columns) share a scale.

    That is ``size``, or the whole row where there is one scale a row and ``size`` is larger.
    """
    if size <= 1:
        raise RuntimeError(f"group_size must be > 1, got {size}")
    if x.dim() != 2:
        raise RuntimeError(f"input must be 2-dimensional, got {x.dim()}")
    columns = x.shape[-1]
    if size > columns and scales.shape[-1] == 1:
        return columns
    if columns % size:
        raise RuntimeError(f"input.shape[-1] {columns} must be divisible by group_size {size}")
    return size
