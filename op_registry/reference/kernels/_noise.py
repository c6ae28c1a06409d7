"""The noise that random kernels are functions of, and the choice among fixed many proposals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

ACCURACY = "the distribution is eager's, the numbers are not"


def wide(dtype: torch.dtype) -> torch.dtype:
    """Return the dtype that is drawn and computed in: f64 stays, all else is f32."""
    return dtype if dtype == torch.float64 else torch.float32


def uniform(
    like: torch.Tensor, noise: torch.Tensor | None, generator: Any, lead: Sequence[int] = ()
) -> torch.Tensor:
    """Return ``noise``, or draw numbers in [0, 1): (*``lead``, *shape of ``like``)."""
    if noise is not None:
        return noise
    shape = (*lead, *like.shape)
    return torch.rand(shape, dtype=wide(like.dtype), device=like.device, generator=generator)


def normal(
    like: torch.Tensor, noise: torch.Tensor | None, generator: Any, lead: Sequence[int] = ()
) -> torch.Tensor:
    """Return ``noise``, or draw standard normal numbers: (*``lead``, *shape of ``like``)."""
    if noise is not None:
        return noise
    shape = (*lead, *like.shape)
    return torch.randn(shape, dtype=wide(like.dtype), device=like.device, generator=generator)


def first_accepted(
    candidates: torch.Tensor, accepted: torch.Tensor, otherwise: torch.Tensor
) -> torch.Tensor:
    """Return of each element the first candidate along dimension 0 that is accepted.

    ``otherwise`` stands where none is. A loop over the proposals, which are few.
    """
    result = otherwise
    for candidate, good in reversed(list(zip(candidates, accepted, strict=True))):
        result = torch.where(good, candidate, result)
    return result
