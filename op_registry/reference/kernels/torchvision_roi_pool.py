"""``torchvision::roi_pool`` and its backward: maxima of regions, and where they are."""

from __future__ import annotations

import math

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _regions as regions
from op_registry.reference.recorded import recorded

_SOURCE = "Girshick, Fast R-CNN (2015), as in torchvision's roi_pool_kernel.cpp"


@kernel(
    "torchvision.roi_pool.default",
    source=_SOURCE,
    accuracy="exact",
    nonfinite="eager skips NaN, which is largest here",
    expected=recorded("torchvision.roi_pool.default"),
)
def roi_pool(
    input: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the maximum of each bin of each region of ``input`` (N, C, H, W), and its place.

    ``rois`` (K, 5) are number of the image, x1, y1, x2, y2, times ``spatial_scale`` and rounded to
    elements, both ends included. Both results are (K, C, ``pooled_height``, ``pooled_width``), the
    places int32 within a plane; an empty bin is 0 at -1. Maxima are taken along rows first, then of
    these, over the whole image with all else masked.
    """
    regions.check("roi_pool", input, rois)
    boxes = regions.wide(rois)
    corners = (boxes[:, 1:] * spatial_scale).sign() * (
        (boxes[:, 1:] * spatial_scale).abs() + 0.5
    ).floor()
    sizes = (corners[:, 2:] - corners[:, :2] + 1).clamp(min=1.0)
    height, width = input.shape[2:]
    rows = regions.covered(corners[:, 1], sizes[:, 1], pooled_height, height)
    columns = regions.covered(corners[:, 0], sizes[:, 0], pooled_width, width)
    x = input.index_select(0, rois[:, 0].long())
    numbers = torch.arange(height * width, device=input.device).reshape(height, width, 1)
    # (regions, channels, height, width, pooled width), reduced over the width
    by_row, at = _largest(x.unsqueeze(-1), numbers, columns.mT[:, None, None], 3)
    mask = rows.mT[:, None, :, :, None]
    found, place = _largest(by_row.unsqueeze(3), at.unsqueeze(3), mask, 2)
    empty = place == _NOWHERE
    return torch.where(empty, 0.0, found), torch.where(empty, -1, place).int()


_NOWHERE = 1 << 40


def _largest(
    x: torch.Tensor, places: torch.Tensor, mask: torch.Tensor, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the largest of what ``mask`` leaves along ``dim``, and the first place that has it."""
    x = torch.where(mask, x, -math.inf)
    largest = x.amax(dim, keepdim=True)
    first = torch.where(mask & (x == largest), places, _NOWHERE).amin(dim)
    return largest.squeeze(dim), first


@kernel(
    "torchvision._roi_pool_backward.default",
    source=_SOURCE,
    accuracy="exact up to the order of sums",
    expected=recorded("torchvision._roi_pool_backward.default"),
)
def roi_pool_backward(
    grad: torch.Tensor,
    rois: torch.Tensor,
    argmax: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> torch.Tensor:
    """Return the gradient (``batch_size``, ``channels``, ``height``, ``width``) of the images.

    ``grad`` and ``argmax`` are (K, ``channels``, ``pooled_height``, ``pooled_width``): added up
    where each maximum was, by one scatter.
    """
    del spatial_scale, pooled_height, pooled_width
    regions.check("roi_pool", grad, rois)
    planes = torch.arange(channels, device=grad.device).unsqueeze(1)
    images = rois[:, 0].long().reshape(-1, 1, 1)
    places = (images * channels + planes) * (height * width) + argmax.flatten(2).clamp(min=0)
    values = torch.where(argmax >= 0, regions.wide(grad), 0.0).flatten()
    total = values.new_zeros(batch_size * channels * height * width)
    total = total.scatter_add(0, places.flatten(), values)
    return total.reshape(batch_size, channels, height, width).to(grad.dtype)
