"""Adaptive average pooling: a product with a matrix of bins in each dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._vjp import ACCURACY, wide

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "definition: bins from floor(i n / m) to ceil((i + 1) n / m)"
_NONFINITE = "here an infinity meets the zeros of other bins and gives NaN"


@kernel(
    "aten._adaptive_avg_pool3d.default",
    source=_SOURCE,
    accuracy=ACCURACY,
    nonfinite=_NONFINITE,
    samples=("nn.functional.adaptive_avg_pool3d",),
)
def adaptive_avg_pool3d(self: torch.Tensor, output_size: Sequence[int]) -> torch.Tensor:
    """Return the means of ``output_size`` bins of ``self`` (*, depth, height, width)."""
    return _pooled(self, self.shape[-3:], output_size, backward=False)


@kernel(
    "aten._adaptive_avg_pool2d_backward.default",
    source=_SOURCE,
    accuracy=ACCURACY,
    nonfinite=_NONFINITE,
    samples=("nn.functional.adaptive_avg_pool2d",),
)
def adaptive_avg_pool2d_backward(grad_output: torch.Tensor, self: torch.Tensor) -> torch.Tensor:
    """Return the gradient of ``self`` (*, height, width) for that of the means of its bins."""
    return _pooled(grad_output, self.shape[-2:], grad_output.shape[-2:], backward=True)


@kernel(
    "aten._adaptive_avg_pool3d_backward.default",
    source=_SOURCE,
    accuracy=ACCURACY,
    nonfinite=_NONFINITE,
    samples=("nn.functional.adaptive_avg_pool3d",),
)
def adaptive_avg_pool3d_backward(grad_output: torch.Tensor, self: torch.Tensor) -> torch.Tensor:
    """Return the gradient of ``self`` (*, depth, height, width) for that of its bins' means."""
    return _pooled(grad_output, self.shape[-3:], grad_output.shape[-3:], backward=True)


def _pooled(
    data: torch.Tensor, sizes: Sequence[int], bins: Sequence[int], *, backward: bool
) -> torch.Tensor:
    result = wide(data)
    for place, (size, count) in enumerate(zip(sizes, bins, strict=True)):
        dim = place - len(sizes)
        matrix = _bins(size, count, result)
        # A sum of products instead of a matrix product: float32 all through.
        lines = result.movedim(dim, -1).unsqueeze(-2)
        used = matrix.t() if backward else matrix
        result = (lines * used).sum(-1).movedim(-1, dim)
    return result.to(data.dtype)


def _bins(size: int, count: int, like: torch.Tensor) -> torch.Tensor:
    """Return the (count, size) matrix that takes the mean of each bin."""
    places = torch.arange(size, device=like.device)
    bins = torch.arange(count, device=like.device).unsqueeze(-1)
    starts = torch.div(bins * size, count, rounding_mode="floor")
    ends = torch.div((bins + 1) * size + count - 1, count, rounding_mode="floor")
    inside = ((places >= starts) & (places < ends)).to(like.dtype)
    return inside / (ends - starts).to(like.dtype)
