"""Random numbers that are one uniform or normal number each, transformed."""

from __future__ import annotations

import math
from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _noise

_INVERSION = "inversion of the distribution function"
_SCALED = "a standard normal number, scaled and shifted"


@kernel("aten.uniform.default", source="definition", accuracy=_noise.ACCURACY, noise=True)
def uniform(
    self: torch.Tensor,
    # The op calls it `from`, which Python keeps to itself: it is passed by position.
    start: float = 0.0,
    to: float = 1.0,
    *,
    generator: Any = None,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return numbers in [``start``, ``to``), in shape and dtype of ``self``.

    ``noise`` is uniform in [0, 1), shaped like ``self``. Half precision may round up to ``to``.
    """
    if start > to:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={start} > to={to}"
        )
    return (_noise.uniform(self, noise, generator) * (to - start) + start).to(self.dtype)


@kernel("aten.exponential.default", source=_INVERSION, accuracy=_noise.ACCURACY, noise=True)
def exponential(
    self: torch.Tensor,
    lambd: float = 1.0,
    *,
    generator: Any = None,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return exponential numbers of rate ``lambd``, in shape and dtype of ``self``.

    ``noise`` is uniform in [0, 1), shaped like ``self``: -log(1 - noise) / ``lambd``.
    """
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return (-torch.log1p(-_noise.uniform(self, noise, generator)) / lambd).to(self.dtype)


@kernel("aten.cauchy.default", source=_INVERSION, accuracy=_noise.ACCURACY, noise=True)
def cauchy(
    self: torch.Tensor,
    median: float = 0.0,
    sigma: float = 1.0,
    *,
    generator: Any = None,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return Cauchy numbers around ``median``, of width ``sigma``, in shape and dtype of ``self``.

    ``noise`` is uniform in [0, 1), shaped like ``self``: the tangent of its angle.
    """
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    if not self.is_floating_point():
        raise RuntimeError(
            f"Cauchy distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {self.dtype}"
        )
    angle = (_noise.uniform(self, noise, generator) - 0.5) * math.pi
    return (median + sigma * angle.tan()).to(self.dtype)


@kernel("aten.geometric.default", source=_INVERSION, accuracy=_noise.ACCURACY, noise=True)
def geometric(
    self: torch.Tensor,
    p: float,
    *,
    generator: Any = None,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return how many trials of probability ``p`` a success took, in shape and dtype of ``self``.

    ``noise`` is uniform in [0, 1), shaped like ``self``. An f32 number knows 24 bits: none is
    larger than 17 / -log(1 - ``p``).
    """
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    trials = (torch.log1p(-_noise.uniform(self, noise, generator)) / math.log1p(-p)).ceil()
    return trials.clamp(min=1).to(self.dtype)


@kernel("aten.log_normal.default", source=_SCALED, accuracy=_noise.ACCURACY, noise=True)
def log_normal(
    self: torch.Tensor,
    mean: float = 1.0,
    std: float = 2.0,
    *,
    generator: Any = None,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return exp of normal numbers of ``mean`` and ``std``, in shape and dtype of ``self``.

    ``noise`` is standard normal, shaped like ``self``.
    """
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return (mean + std * _noise.normal(self, noise, generator)).exp().to(self.dtype)


@kernel("aten.normal_functional.default", source=_SCALED, accuracy=_noise.ACCURACY, noise=True)
def normal_functional(
    self: torch.Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    generator: Any = None,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return normal numbers of ``mean`` and ``std``, in shape and dtype of ``self``.

    ``noise`` is standard normal, shaped like ``self``.
    """
    _check_std(std)
    return (mean + std * _noise.normal(self, noise, generator)).to(self.dtype)


@kernel("aten.normal.Tensor_float", source=_SCALED, accuracy=_noise.ACCURACY, noise=True)
def normal_around(
    mean: torch.Tensor,
    std: float = 1.0,
    *,
    generator: Any = None,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return a normal number around each element of ``mean``; ``noise`` is shaped like it."""
    _check_std(std)
    return (mean + std * _noise.normal(mean, noise, generator)).to(mean.dtype)


@kernel("aten.normal.float_Tensor", source=_SCALED, accuracy=_noise.ACCURACY, noise=True)
def normal_of_width(
    mean: float,
    std: torch.Tensor,
    *,
    generator: Any = None,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return a normal number of each element's width ``std``; ``noise`` is shaped like it."""
    return (mean + std * _noise.normal(std, noise, generator)).to(std.dtype)


@kernel("aten.normal.Tensor_Tensor", source=_SCALED, accuracy=_noise.ACCURACY, noise=True)
def normal_of_tensors(
    mean: torch.Tensor,
    std: torch.Tensor,
    *,
    generator: Any = None,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return normal numbers of ``mean`` and ``std``, which are broadcast, in the dtype of ``mean``.

    ``noise`` is standard normal, shaped like the result.
    """
    dtype = mean.dtype
    mean = mean.expand(torch.broadcast_shapes(mean.shape, std.shape))
    return (mean + std * _noise.normal(mean, noise, generator)).to(dtype)


def _check_std(std: float) -> None:
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
