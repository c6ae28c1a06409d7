"""Random choices: coins, dropout, categories, orders."""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _noise


@kernel("aten.bernoulli.default", source="definition", accuracy=_noise.ACCURACY, noise=True)
def bernoulli(
    self: torch.Tensor, *, generator: Any = None, noise: torch.Tensor | None = None
) -> torch.Tensor:
    """Return 1 with the probability that ``self`` holds, else 0, in its shape and dtype.

    ``noise`` is uniform in [0, 1), shaped like ``self``. Whether probabilities are in [0, 1] is not
    checked, since that would need the host.
    """
    return (_noise.uniform(self, noise, generator) < self).to(self.dtype)


@kernel("aten.bernoulli.Tensor", source="definition", accuracy=_noise.ACCURACY, noise=True)
def bernoulli_by(
    self: torch.Tensor,
    p: torch.Tensor,
    *,
    generator: Any = None,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return 1 with the probability that ``p`` holds, else 0, in shape and dtype of ``self``.

    ``p`` is broadcast to ``self``; ``noise`` is uniform in [0, 1), shaped like ``self``.
    """
    return (_noise.uniform(self, noise, generator) < p.expand_as(self)).to(self.dtype)


@kernel(
    "aten.native_dropout.default",
    source="Srivastava et al., Dropout (2014)",
    accuracy=_noise.ACCURACY,
    noise=True,
    samples=("nn.functional.dropout",),
)
def native_dropout(
    input: torch.Tensor, p: float, train: bool | None, noise: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ``input`` with elements zeroed with probability ``p``, and which were kept (bools).

    What is kept is divided by 1 - ``p``. ``noise`` is uniform in [0, 1), shaped like ``input``.
    Unless in training all is kept.
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={1 - p}")
    if p == 0 or train is False:
        return input.clone(), torch.ones_like(input, dtype=torch.bool)
    kept = _noise.uniform(input, noise, None) >= p
    scale = 0.0 if p == 1 else 1 / (1 - p)
    return input * kept * scale, kept


@kernel(
    "aten.multinomial.default",
    source="with replacement inversion; without, Efraimidis and Spirakis (2006): exponential races",
    accuracy=_noise.ACCURACY,
    noise=True,
)
def multinomial(
    self: torch.Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Any = None,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return indices (..., ``num_samples``) drawn in proportion to ``self`` (..., categories).

    ``noise`` is uniform in [0, 1): (..., ``num_samples``) with ``replacement``, else shaped like
    ``self``. Weights that are negative, NaN or all zero are not refused, since that would need the
    host.
    """
    _check_multinomial(self, num_samples, replacement)
    weights = self.to(_noise.wide(self.dtype))
    if not replacement:
        race = -torch.log1p(-_noise.uniform(weights, noise, generator))
        return (weights / race).topk(num_samples, -1).indices
    below = weights.cumsum(-1)
    drawn = weights[..., :1].expand(*weights.shape[:-1], num_samples)
    level = _noise.uniform(drawn, noise, generator) * below[..., -1:]
    found = torch.searchsorted(below, level.contiguous(), right=True)
    return found.clamp(max=weights.shape[-1] - 1)


def _check_multinomial(self: torch.Tensor, num_samples: int, replacement: bool) -> None:
    if self.dim() not in (1, 2) or not self.is_floating_point():
        raise RuntimeError(
            f"multinomial expects floating-point weights of 1 or 2 dimensions, got {self.dtype} of "
            f"{self.dim()}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > self.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )


def _shuffled(
    n: int, dtype: torch.dtype | None, device: Any, generator: Any, noise: torch.Tensor | None
) -> torch.Tensor:
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got {n}")
    if noise is None:
        noise = torch.rand(n, device=device, generator=generator)
    return noise.argsort().to(torch.int64 if dtype is None else dtype)


@kernel(
    "aten.randperm.default",
    source="definition: the order of uniform numbers",
    accuracy=f"{_noise.ACCURACY}; two of f32's 2**24 numbers may be equal, then their order stays",
    noise=True,
)
def randperm(
    n: int,
    *,
    dtype: torch.dtype | None = torch.int64,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the numbers below ``n`` in random order; ``noise`` (n) is uniform in [0, 1)."""
    del layout, pin_memory
    return _shuffled(n, dtype, device, None, noise)


@kernel(
    "aten.randperm.generator",
    source="definition: the order of uniform numbers",
    accuracy=f"{_noise.ACCURACY}; two of f32's 2**24 numbers may be equal, then their order stays",
    noise=True,
)
def randperm_by(
    n: int,
    *,
    generator: Any,
    dtype: torch.dtype | None = torch.int64,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the numbers below ``n`` in random order; ``noise`` (n) is uniform in [0, 1)."""
    del layout, pin_memory
    return _shuffled(n, dtype, device, generator, noise)
