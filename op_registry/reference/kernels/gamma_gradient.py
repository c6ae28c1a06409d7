"""``_standard_gamma_grad``: how a gamma number moves with its shape parameter."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel

_NUMERATOR = (
    (0.16009398, -0.094634809, 0.025146376, -0.0030648343),
    (0.53487893, 0.1298071, 0.065735949, -0.0015649758),
    (0.040121004, -0.0065914022, -0.0026286047, -0.0013441777),
)
_DENOMINATOR = (
    (1, 0.32668115, 0.10406089, 0.0014179084),
    (0.16639465, 0.020070113, -0.0035938915, -0.00058392623),
    (0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07),
)
"""By power of log(output / alpha), then by power of log(alpha)."""
_SERIES = 5
_SMALL, _LARGE, _NEAR = 0.8, 8.0, 0.1


@kernel(
    "aten._standard_gamma_grad.default",
    source="Figurnov et al., Implicit Reparameterization Gradients (2018); the approximations of "
    "torch's Distributions.h",
    accuracy="f32 rounding of some twenty operations; parameters above 8 are computed in f64, "
    "which a TPU emulates",
)
def standard_gamma_grad(self: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
    """Return the derivative of each gamma number ``output`` by its parameter in ``self``.

    It is -(d cdf / d alpha) / pdf, approximated by a series for small numbers, a saddle point for
    large parameters and a rational function between. All are computed, one is taken.
    """
    if self.dtype != output.dtype or not self.is_floating_point():
        raise RuntimeError(
            f"_standard_gamma_grad: expected floating-point tensors of one dtype, got {self.dtype} "
            f"and {output.dtype}"
        )
    alpha, x = torch.broadcast_tensors(self, output)
    # The terms of the saddle point all but cancel.
    large = _saddle_point(alpha.double(), x.double()).to(self.dtype)
    found = torch.where(alpha > _LARGE, large, _rational(alpha, x))
    return torch.where(x < _SMALL, _series(alpha, x), found)


def _series(alpha: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    numerator, denominator = torch.ones_like(x), alpha
    first = numerator / denominator
    second = numerator / (denominator * denominator)
    for number in range(1, _SERIES + 1):
        numerator = numerator * -x / number
        denominator = denominator + 1
        first = first + numerator / denominator
        second = second + numerator / (denominator * denominator)
    power = x.pow(alpha)
    density = x.pow(alpha - 1) * (-x).exp()
    slope = (x.log() - alpha.digamma()) * power * first - power * second
    result = -slope / density
    return torch.where(result.isnan(), 0.0, result)


def _saddle_point(alpha: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    upper = 1 + 24 * alpha * (1 + 12 * alpha)
    lower = (
        1440 * alpha * alpha
        + 6 * x * (53 - 120 * x)
        - 65 * x * x / alpha
        + alpha * (107 + 3600 * x)
    )
    square = alpha * alpha
    near = upper / square * (lower / square) / 1244160
    width = (8 * alpha).sqrt()
    logarithm = (x / alpha).log()
    excess = x - alpha - alpha * logarithm
    part = 1 / (excess * excess.sqrt())
    both = width / (alpha - x) + torch.where(x < alpha, -part, part)
    gap = (alpha - x).square()
    term = logarithm * both - (2 / alpha).sqrt() * (alpha + x) / gap
    stirling = 1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))
    close = ((1 - _NEAR) * alpha <= x) & (x <= (1 + _NEAR) * alpha)
    return torch.where(close, near, -stirling * x * term / width)


def _rational(alpha: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    u, v = (x / alpha).log(), alpha.log()
    return (_polynomial(_NUMERATOR, u, v) / _polynomial(_DENOMINATOR, u, v)).exp()


def _polynomial(
    rows: tuple[tuple[float, ...], ...], u: torch.Tensor, v: torch.Tensor
) -> torch.Tensor:
    total = torch.zeros_like(u)
    for coefficients in zip(*(reversed(row) for row in rows), strict=True):
        constant, linear, square = coefficients
        total = total * v + (constant + u * (linear + u * square))
    return total
