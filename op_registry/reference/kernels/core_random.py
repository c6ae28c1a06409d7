"""Random ops as functions of uniform noise."""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel


@kernel(
    "aten.bernoulli.p",
    source="definition: a uniform number below p",
    accuracy="the distribution is eager's, the numbers are not",
    noise=True,
)
def bernoulli(
    self: torch.Tensor, p: float = 0.5, *, generator: Any = None, noise: torch.Tensor | None = None
) -> torch.Tensor:
    """Return ones with probability ``p`` and zeros, in shape and dtype of ``self``.

    ``noise`` is uniform in [0, 1), shaped like ``self``.
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    if noise is None:
        noise = torch.rand(self.shape, generator=generator, device=self.device)
    return (noise < p).to(self.dtype)
