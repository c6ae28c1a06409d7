"""Resampling along one axis as a small dense matrix: what the resize ops share.

An output row weighs the input row; the weights depend on sizes only, so a resize is one matrix
product an axis, and its backward the product with the transposed matrix. Nothing is gathered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

Filter = Callable[[torch.Tensor], torch.Tensor]
MATMUL = (
    "rounding of a sum over one axis; on a TPU f32 products run at the precision that "
    "torch.set_float32_matmul_precision sets"
)
"""The accuracy of these products."""
NONFINITE = (
    "0 * inf is NaN: an infinite or NaN element spoils its whole row and column, where eager "
    "spoils its neighbourhood"
)
"""What products with mostly zero matrices do to NaN and infinity."""


def scale_of(source: int, target: int, *, align_corners: bool, given: float | None) -> float:
    """Return how many input elements one output element spans: eager's rule."""
    if align_corners:
        return (source - 1) / (target - 1) if target > 1 else 0.0
    return 1.0 / given if given is not None and given > 0 else source / target


def linear(
    x: torch.Tensor, source: int, target: int, scale: float, *, align_corners: bool
) -> torch.Tensor:
    """Return the (target, source) matrix of linear interpolation between two neighbours.

    ``x`` says on which device and in which dtype. The weight of a source element falls linearly
    with its distance from the point that is sampled, which is held inside of the input.
    """
    points = torch.arange(target, dtype=x.dtype, device=x.device)
    points = points * scale if align_corners else (points + 0.5) * scale - 0.5
    points = points.clamp(0, source - 1).unsqueeze(1)
    elements = torch.arange(source, dtype=x.dtype, device=x.device)
    return (1 - (points - elements).abs()).clamp(min=0)


def antialiased(
    x: torch.Tensor, source: int, target: int, scale: float, filter_of: Filter, support: float
) -> torch.Tensor:
    """Return the (target, source) matrix of a filter that is widened when the axis shrinks.

    ``filter_of`` counts within [-support, support]. Each row sums to one, or is zero where the
    scale that was given leads out of the input.
    """
    stretch = max(scale, 1.0)
    centers = (torch.arange(target, dtype=x.dtype, device=x.device) + 0.5) * scale
    elements = torch.arange(source, dtype=x.dtype, device=x.device) + 0.5
    distance = (elements - centers.unsqueeze(1)) / stretch
    weights = torch.where(distance.abs() < support, filter_of(distance), 0.0)
    total = weights.sum(1, keepdim=True)
    return weights / torch.where(total == 0, 1.0, total)


def triangle(x: torch.Tensor) -> torch.Tensor:
    """Return the filter of antialiased bilinear resize, of support 1."""
    return 1 - x.abs()


def cubic(x: torch.Tensor) -> torch.Tensor:
    """Return Keys' cubic filter with a = -0.5, of support 2, as antialiased bicubic has it."""
    x = x.abs()
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return torch.where(x < 1, near, far)


def lanczos(x: torch.Tensor) -> torch.Tensor:
    """Return the Lanczos filter of support 3."""
    angle = torch.where(x == 0, 1.0, x * math.pi)
    waves = angle.sin() * (angle / 3).sin() * 3 / (angle * angle)
    return torch.where(x == 0, 1.0, waves)


def apply(x: torch.Tensor, matrices: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return ``x`` (..., s1, .., sn) after the last n axes met their (target, s) matrix."""
    for axis, matrix in zip(range(-len(matrices), 0), matrices, strict=True):
        x = torch.matmul(x.movedim(axis, -1), matrix.t()).movedim(-1, axis)
    return x


def computed(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` in the dtype that resize computes in: f64 stays, all else is f32."""
    return x if x.dtype == torch.float64 else x.float()


def check_sizes(name: str, sizes: Sequence[int], output: Sequence[int]) -> None:
    """Raise eager's RuntimeError unless (batch, channels, *space) can be resized to ``output``."""
    if len(sizes) != len(output) + 2 or 0 in sizes[1:]:
        raise RuntimeError(
            f"{name}: Non-empty {len(output) + 2}D data tensor expected but got a tensor with "
            f"sizes {list(sizes)}"
        )
    if min(output) <= 0:
        raise RuntimeError(
            f"{name}: Input and output sizes should be greater than 0, but got output size "
            f"{list(output)}"
        )


def check_gradient(name: str, gradient: torch.Tensor, sizes: Sequence[int]) -> None:
    """Raise eager's RuntimeError unless ``gradient`` has the shape of the forward's output."""
    if list(gradient.shape) != list(sizes):
        raise RuntimeError(
            f"{name}: Expected grad_output to have the same shape as output; output.size() = "
            f"{list(sizes)} but got grad_output.size() = {list(gradient.shape)}"
        )
