"""Sums over regions of images as products with one matrix an axis: what torchvision's pools share.

What a bin sums of an image is separable: rows weighed, then columns. Nothing is gathered, and no
shape depends on where the regions are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

ACCURACY = (
    "rounding of f32 sums over rows and columns; on a TPU f32 products run at the precision that "
    "torch.set_float32_matmul_precision sets"
)
NONFINITE = "0 * inf is NaN: an infinite or NaN element spoils all regions of its image"


@dataclass(frozen=True, kw_only=True, slots=True)
class Bins:
    """How each region sums its image."""

    image: torch.Tensor
    """(regions, images): 1 where the region is of the image."""
    rows: torch.Tensor
    """(regions, pooled height, height): weights."""
    columns: torch.Tensor
    """(regions, pooled width, width): weights."""


def wide(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` in the dtype that pools compute in: f64 stays, all else is f32."""
    return x if x.dtype == torch.float64 else x.float()


def images_of(rois: torch.Tensor, batch: int) -> torch.Tensor:
    """Return (regions, ``batch``): 1 where the first column of ``rois`` names the image."""
    numbers = torch.arange(batch, dtype=rois.dtype, device=rois.device)
    return (rois[:, :1] == numbers).to(rois.dtype)


def sampled(
    start: torch.Tensor, size: torch.Tensor, pooled: int, ratio: int, length: int
) -> torch.Tensor:
    """Return the weights (regions, ``pooled``, ``length``) of bilinear samples along an axis.

    A region from ``start`` (regions) of ``size`` (regions) has ``pooled`` bins with ``ratio``
    samples each, evenly spread; with ``ratio`` 0 as many as a bin has elements, up to those of a
    region as large as the image. A sample more than one element outside counts as 0; one on the rim
    takes the outermost element. The weights of a bin are divided by its number of samples.
    """
    step = size / pooled
    most = ratio if ratio > 0 else max(1, math.ceil(length / pooled))
    number = torch.arange(most, dtype=start.dtype, device=start.device)
    count = torch.full_like(start, float(ratio)) if ratio > 0 else step.ceil().clamp(max=most)
    bins = torch.arange(pooled, dtype=start.dtype, device=start.device).unsqueeze(1)
    first, step, count = (x.reshape(-1, 1, 1) for x in (start, step, count))
    points = first + bins * step + (number + 0.5) * step / count
    counts = (points >= -1) & (points <= length) & (number < count)
    points = points.clamp(0, length - 1).unsqueeze(-1)
    elements = torch.arange(length, dtype=start.dtype, device=start.device)
    weights = (1 - (points - elements).abs()).clamp(min=0)
    weights = torch.where(counts.unsqueeze(-1), weights, 0.0).sum(2)
    return weights / count.clamp(min=1)


def covered(start: torch.Tensor, size: torch.Tensor, pooled: int, length: int) -> torch.Tensor:
    """Return which elements each bin has, (regions, ``pooled``, ``length``) bools.

    Bin i goes from floor(i * size / pooled) to ceil((i + 1) * size / pooled), both from ``start``.
    """
    step = (size / pooled).unsqueeze(1)
    bins = torch.arange(pooled, dtype=start.dtype, device=start.device)
    first = ((bins * step).floor() + start.unsqueeze(1)).unsqueeze(-1)
    end = (((bins + 1) * step).ceil() + start.unsqueeze(1)).unsqueeze(-1)
    elements = torch.arange(length, dtype=start.dtype, device=start.device)
    return (elements >= first) & (elements < end)


def pool(x: torch.Tensor, bins: Bins) -> torch.Tensor:
    """Return (regions, channels, pooled height, pooled width) from (images, channels, h, w)."""
    by_row = torch.einsum("rn,rih->rinh", bins.image, bins.rows)
    rows = torch.einsum("rinh,nchw->ricw", by_row, x)
    return torch.einsum("ricw,rjw->rcij", rows, bins.columns)


def unpool(gradient: torch.Tensor, bins: Bins) -> torch.Tensor:
    """Return the gradient (images, channels, h, w) from that of the pooled regions."""
    rows = torch.einsum("rcij,rjw->ricw", gradient, bins.columns)
    by_row = torch.einsum("rn,rih->rinh", bins.image, bins.rows)
    return torch.einsum("rinh,ricw->nchw", by_row, rows)


def pool_by_position(x: torch.Tensor, bins: Bins) -> torch.Tensor:
    """Return (regions, channels, i, j) from ``x`` (images, channels, i, j, h, w).

    Each bin has channels of its own.
    """
    by_row = torch.einsum("rn,rih->rinh", bins.image, bins.rows)
    rows = torch.einsum("rinh,ncijhw->rcijw", by_row, x)
    return torch.einsum("rcijw,rjw->rcij", rows, bins.columns)


def unpool_by_position(gradient: torch.Tensor, bins: Bins) -> torch.Tensor:
    """Return the gradient (images, channels, i, j, h, w) from that of the pooled regions."""
    rows = torch.einsum("rcij,rjw->rcijw", gradient, bins.columns)
    by_row = torch.einsum("rn,rih->rinh", bins.image, bins.rows)
    return torch.einsum("rinh,rcijw->ncijhw", by_row, rows)


def check(name: str, x: torch.Tensor, rois: torch.Tensor) -> None:
    """Raise RuntimeError unless ``x`` is (N, C, H, W) and ``rois`` (K, 5) of the same dtype."""
    if x.dim() != 4 or rois.dim() != 2 or rois.shape[1] != 5:
        raise RuntimeError(
            f"{name}: expected input (N, C, H, W) and rois (K, 5), got {list(x.shape)} and "
            f"{list(rois.shape)}"
        )
    if x.dtype != rois.dtype:
        raise RuntimeError(f"{name}: input is {x.dtype} and rois {rois.dtype}; give one dtype")
