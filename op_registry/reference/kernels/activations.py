"""Activations: ``mish``, ``softshrink``, ``hardshrink``, and the tangents of ``glu``."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import floats

_ROUNDING = "float32 rounding; 16-bit types are computed in float32 and rounded once"


@kernel("aten.mish.default", source="definition (Misra 2019)", accuracy=_ROUNDING)
def mish(self: torch.Tensor) -> torch.Tensor:
    """Return ``x * tanh(log(1 + exp(x)))`` for each element, shaped like ``self``."""
    return floats(lambda x: x * x.exp().log1p().tanh(), self)


@kernel("aten.softshrink.default", source="definition", accuracy="exact; 16-bit types round once")
def softshrink(self: torch.Tensor, lambd: float = 0.5) -> torch.Tensor:
    """Return ``self`` moved towards zero by ``lambd``, and zero where that would pass it."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")

    def shrunk(x: torch.Tensor) -> torch.Tensor:
        # x * 0 keeps a NaN.
        return torch.where(x > lambd, x - lambd, torch.where(x < -lambd, x + lambd, x * 0))

    return floats(shrunk, self)


@kernel("aten.hardshrink.default", source="definition", accuracy="exact")
def hardshrink(self: torch.Tensor, lambd: float = 0.5) -> torch.Tensor:
    """Return ``self``, and zero where it is within ``lambd`` of zero."""
    return torch.where(_within(self, lambd), 0, self)


@kernel(
    "aten.hardshrink_backward.default",
    "aten.softshrink_backward.default",
    source="derivative",
    accuracy="exact",
    nonfinite="for a NaN input eager returns the gradient at 16-bit types, as this does, else zero",
)
def shrink_backward(grad: torch.Tensor, self: torch.Tensor, lambd: float) -> torch.Tensor:
    """Return ``grad``, and zero where ``self`` is within ``lambd`` of zero."""
    return torch.where(_within(self, lambd), 0, grad)


@kernel("aten.glu_jvp.default", source="derivative", accuracy=_ROUNDING)
def glu_jvp(glu: torch.Tensor, x: torch.Tensor, dx: torch.Tensor, dim: int) -> torch.Tensor:
    """Return how ``glu``, the gated linear unit of ``x`` along ``dim``, moves when x moves by dx.

    The first half a of ``x`` is gated by the second half b: ``glu = a * sigmoid(b)``, half as long.
    """
    gate = x.chunk(2, dim)[1].sigmoid()
    da, db = dx.chunk(2, dim)
    return da * gate + glu * (db - gate * db)


@kernel("aten.glu_backward_jvp.default", source="derivative", accuracy=_ROUNDING)
def glu_backward_jvp(
    grad_x: torch.Tensor,
    grad_glu: torch.Tensor,
    x: torch.Tensor,
    dgrad_glu: torch.Tensor,
    dx: torch.Tensor,
    dim: int,
) -> torch.Tensor:
    """Return how ``grad_x``, the gradient of ``glu`` along ``dim``, moves; shaped like ``x``.

    The gradient of the output moves by ``dgrad_glu``, the input by ``dx``.
    """
    del grad_glu  # it is in grad_x
    grad_a, grad_b = grad_x.chunk(2, dim)
    a, b = x.chunk(2, dim)
    da, db = dx.chunk(2, dim)
    gate = b.sigmoid()
    tangent_a = dgrad_glu * gate + grad_a * (db - gate * db)
    tangent_b = tangent_a * (a - a * gate) + grad_a * (da - da * gate) - grad_b * gate * db
    return torch.cat([tangent_a, tangent_b], dim)


def _within(x: torch.Tensor, lambd: float) -> torch.Tensor:
    return (x >= -lambd) & (x <= lambd)
