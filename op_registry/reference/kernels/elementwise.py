"""``hypot``, ``heaviside``, ``sinc``, ``special_entr``, ``special_xlog1py``: single formulas."""

from __future__ import annotations

import math
from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import float_type, floats, result_type

_ROUNDING = "float32 rounding; 16-bit types are computed in float32 and rounded once"


@kernel("aten.hypot.default", source="the larger side taken out of the root", accuracy=_ROUNDING)
def hypot(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return ``sqrt(self ** 2 + other ** 2)``, not overflowing before the result does.

    The two broadcast. Where one is infinite the result is, even if the other is NaN.
    """
    if not result_type(self, other).is_floating_point:
        raise NotImplementedError(f"hypot is not implemented for {result_type(self, other)}")

    def side(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a, b = a.abs(), b.abs()
        high, low = torch.maximum(a, b), torch.minimum(a, b)
        part = low / torch.where(high == 0, 1, high)
        return torch.where(a.isinf() | b.isinf(), math.inf, high * (1 + part * part).sqrt())

    return floats(side, self, other)


@kernel("aten.heaviside.default", source="definition", accuracy="exact")
def heaviside(self: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Return 0 where ``self`` is negative or NaN, 1 where positive, and ``values`` where zero."""
    if self.is_complex() or values.is_complex():
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if self.dtype != values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return torch.where(self == 0, values, (self > 0).to(self.dtype))


@kernel("aten.sinc.default", source="definition", accuracy=f"{_ROUNDING} of the angle pi * x")
def sinc(self: torch.Tensor) -> torch.Tensor:
    """Return ``sin(pi * x) / (pi * x)`` for each element, and 1 for zero; also of complex x."""

    def ratio(x: torch.Tensor) -> torch.Tensor:
        angle = x * math.pi
        return torch.where(angle == 0, 1, angle.sin() / angle)

    return floats(ratio, self)


@kernel("aten.special_entr.default", source="definition", accuracy=_ROUNDING)
def entr(self: torch.Tensor) -> torch.Tensor:
    """Return ``-x * log(x)`` for each element, 0 for zero, minus infinity for negative numbers."""

    def entropy(x: torch.Tensor) -> torch.Tensor:
        inside = torch.where(x == 0, 0, -x * x.log())
        return torch.where(x < 0, -math.inf, inside)

    return floats(entropy, self)


@kernel(
    "aten.special_xlog1py.default",
    "aten.special_xlog1py.self_scalar",
    "aten.special_xlog1py.other_scalar",
    source="definition",
    accuracy=_ROUNDING,
)
def xlog1py(self: Any, other: Any) -> torch.Tensor:
    """Return ``self * log1p(other)``, 0 where ``self`` is zero and ``other`` not NaN."""
    if float_type(self, other).is_complex:
        raise NotImplementedError("xlog1py is not implemented for complex tensors")

    def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.where((x == 0) & y.isnan().logical_not(), 0, x * y.log1p())

    return floats(product, self, other)
