"""Gamma and Dirichlet numbers, by rejection with a fixed number of proposals."""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _noise

_SOURCE = "Marsaglia and Tsang, A Simple Method for Generating Gamma Variables (2000)"
PROPOSALS = 8
"""Each is accepted with probability 0.95 at least: all are rejected once in 2 * 10**10."""
_ACCURACY = (
    f"{_noise.ACCURACY}; of {PROPOSALS} proposals none is accepted once in 2e10 numbers, which "
    "then are the mode"
)
Noise = tuple[torch.Tensor, torch.Tensor]


@kernel("aten._standard_gamma.default", source=_SOURCE, accuracy=_ACCURACY, noise=True)
def standard_gamma(
    self: torch.Tensor, generator: Any = None, *, noise: Noise | None = None
) -> torch.Tensor:
    """Return a gamma number of each shape parameter in ``self``, in its shape and dtype.

    ``noise`` are standard normal numbers (8, *shape of ``self``) and uniform ones in [0, 1)
    (9, *shape of ``self``), of which the last is for parameters below 1.
    """
    if not self.is_floating_point():
        raise RuntimeError(f"_standard_gamma: not implemented for {self.dtype}")
    dtype = _noise.wide(self.dtype)
    sample = _gamma(self.to(dtype), generator, noise)
    return sample.clamp(min=torch.finfo(self.dtype).tiny).to(self.dtype)


def _gamma(alpha: torch.Tensor, generator: Any, noise: Noise | None) -> torch.Tensor:
    x, u = noise if noise is not None else (None, None)
    x = _noise.normal(alpha, x, generator, (PROPOSALS,))
    u = _noise.uniform(alpha, u, generator, (PROPOSALS + 1,))
    small = alpha < 1
    d = torch.where(small, alpha + 1, alpha) - 1 / 3
    root = 1 + x / (9 * d).sqrt()
    cube = root * root * root
    # 1 - u is never 0
    bound = 0.5 * x * x + d * (1 - cube + torch.where(root > 0, cube, 1.0).log())
    accepted = (root > 0) & (torch.log1p(-u[:PROPOSALS]) < bound)
    ratio = _noise.first_accepted(cube, accepted, torch.ones_like(d))
    boost = ((1 - u[PROPOSALS]).log() / torch.where(small, alpha, 1.0)).exp()
    return d * ratio * torch.where(small, boost, 1.0)


@kernel("aten._sample_dirichlet.default", source=_SOURCE, accuracy=_ACCURACY, noise=True)
def sample_dirichlet(
    self: torch.Tensor, generator: Any = None, *, noise: Noise | None = None
) -> torch.Tensor:
    """Return Dirichlet numbers of the concentrations ``self`` (..., parts), which sum to 1.

    They are gamma numbers over their sum; ``noise`` is as for these.
    """
    gamma = _gamma(self.to(_noise.wide(self.dtype)), generator, noise)
    kinds = torch.finfo(self.dtype)
    gamma = gamma.clamp(min=torch.finfo(gamma.dtype).tiny)
    share = gamma / gamma.sum(-1, keepdim=True)
    return share.to(self.dtype).clamp(min=kinds.tiny, max=1 - kinds.eps / 2)
