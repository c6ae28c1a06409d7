"""``rrelu_with_noise``: a leaky ReLU whose slope is drawn for each element in training."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._outputs import put

_LOWER, _UPPER = 1 / 8, 1 / 3
_SOURCE = "definition (Xu et al. 2015)"
_ACCURACY = "exact for given slopes; the slopes come from the backend's own generator"


@kernel(
    "aten.rrelu_with_noise_functional.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    noise=True,
    samples=("nn.functional.rrelu",),
)
def rrelu_with_noise_functional(
    self: torch.Tensor,
    noise: torch.Tensor,
    lower: float = _LOWER,
    upper: float = _UPPER,
    training: bool = False,
    generator: torch.Generator | None = None,
    slopes: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the activation of ``self`` and the factor of each element, both shaped like it.

    In training the factor of an element that is not positive is drawn between ``lower`` and
    ``upper``, or taken from ``slopes``, and 1 elsewhere. Otherwise the slope is the middle between
    the two, and ``noise`` is returned as it came.
    """
    _check(self, noise, lower, upper)
    if not training:
        return torch.where(self > 0, self, self * ((lower + upper) / 2)), noise.clone()
    if slopes is None:
        slopes = lower + (upper - lower) * torch.rand_like(self, generator=generator)
    factors = torch.where(self <= 0, slopes, 1)
    return torch.where(self <= 0, self * factors, self), factors


@kernel(
    "aten.rrelu_with_noise.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    noise=True,
    samples=("nn.functional.rrelu",),
)
def rrelu_with_noise(
    self: torch.Tensor,
    noise: torch.Tensor,
    lower: float = _LOWER,
    upper: float = _UPPER,
    training: bool = False,
    generator: torch.Generator | None = None,
    slopes: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the activation of ``self``; in training, ``noise`` becomes each element's factor."""
    result, factors = rrelu_with_noise_functional(
        self, noise, lower, upper, training, generator, slopes
    )
    if training:
        noise.copy_(factors)
    return result


@kernel(
    "aten.rrelu_with_noise_.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    noise=True,
    samples=("nn.functional.rrelu",),
)
def rrelu_with_noise_in_place(
    self: torch.Tensor,
    noise: torch.Tensor,
    lower: float = _LOWER,
    upper: float = _UPPER,
    training: bool = False,
    generator: torch.Generator | None = None,
    slopes: torch.Tensor | None = None,
) -> torch.Tensor:
    """Put the activation of ``self`` in its place and return it; ``noise`` as above."""
    return self.copy_(rrelu_with_noise(self, noise, lower, upper, training, generator, slopes))


@kernel("aten.rrelu_with_noise.out", source=_SOURCE, accuracy=_ACCURACY, noise=True)
def rrelu_with_noise_out(
    self: torch.Tensor,
    noise: torch.Tensor,
    lower: float = _LOWER,
    upper: float = _UPPER,
    training: bool = False,
    generator: torch.Generator | None = None,
    slopes: torch.Tensor | None = None,
    *,
    out: torch.Tensor,
) -> torch.Tensor:
    """Put the activation of ``self`` into ``out`` and return it; ``noise`` as above."""
    return put(out, rrelu_with_noise(self, noise, lower, upper, training, generator, slopes))


def _check(self: torch.Tensor, noise: torch.Tensor, lower: float, upper: float) -> None:
    if lower > upper:
        raise RuntimeError(
            f"Lower bound should be less than or equal to the upper bound, got {lower} and {upper}"
        )
    if self.shape != noise.shape:
        raise RuntimeError(
            f"noise tensor shape must match self tensor shape. Got self.shape = {self.shape} "
            f"noise.shape = {noise.shape}"
        )
