"""The arithmetic of fake quantisation, shared by its ops.

q = round(x / scale) + zero point, held within [quant_min, quant_max], gives (q - zero point) *
scale. As in eager, ties round to even, a division is a product with the reciprocal, and the result
is computed in float32.
"""

from __future__ import annotations

from typing import Any

import torch

NONFINITE = "eager converts NaN and infinity to int64, which C++ leaves undefined"
"""Why results for NaN and infinity are not compared."""


def rounded(
    x: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, low: int, high: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ``x`` rounded, and where nothing was cut off; scale and zero point broadcast."""
    whole = steps(x, scale, zero_point)
    back = (whole.clamp(low, high) - zero_point).float() * scale.float()
    return back.to(x.dtype), (whole >= low) & (whole <= high)


def steps(x: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor) -> torch.Tensor:
    """Return the whole numbers that ``x`` rounds to, not yet held within bounds."""
    wide = x if x.dtype == torch.float64 else x.float()
    quotient = wide * (1 / scale.float())
    if zero_point.is_floating_point():
        return (zero_point + quotient).float().round()
    return zero_point + quotient.round()


def check_bounds(low: int, high: int) -> None:
    """Raise eager's RuntimeError unless ``low`` is at most ``high``."""
    if low > high:
        raise RuntimeError("`quant_min` should be less than or equal to `quant_max`.")


def by_channel(
    x: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, axis: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ``scale`` and ``zero_point`` (x.shape[axis]) shaped to broadcast over ``x``.

    Raises eager's RuntimeError where shapes or dtypes are wrong.
    """
    if scale.dim() != 1 or zero_point.dim() != 1:
        raise RuntimeError("scale and zero point should be 1-D tensors")
    if not 0 <= axis < x.dim():
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    if not scale.numel() == zero_point.numel() == x.shape[axis]:
        raise RuntimeError(
            "dimensions of scale and zero-point are not consistent with input tensor: "
            f"{scale.numel()} and {zero_point.numel()} for {x.shape[axis]}"
        )
    shape = [-1 if dim == axis else 1 for dim in range(x.dim())]
    return scale.reshape(shape), zero_point.reshape(shape)


class StraightThrough(torch.autograd.Function):
    """:func:`rounded`, whose gradient passes where nothing was cut off."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        scale: torch.Tensor,
        zero_point: torch.Tensor,
        low: int,
        high: int,
    ) -> torch.Tensor:
        """Return ``x`` rounded."""
        result, inside = rounded(x, scale, zero_point, low, high)
        ctx.save_for_backward(inside)
        return result

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the gradient of ``x`` alone."""
        (inside,) = ctx.saved_tensors
        return grads[0] * inside, None, None, None, None
