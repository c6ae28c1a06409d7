"""``torchvision::ps_roi_align`` and ``ps_roi_pool``, whose bins have channels of their own."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _regions as regions
from op_registry.reference.recorded import recorded

_SOURCE = "Dai et al., R-FCN (2016), as in torchvision's ps_roi_align_kernel.cpp"
_ACCURACY = (
    f"{regions.ACCURACY}; with sampling_ratio 0 as for roi_align, and a region inside out is 0, "
    "where eager divides 0 by 0"
)
Pair = tuple[torch.Tensor, torch.Tensor]


def _aligned_bins(
    rois: torch.Tensor, scale: float, pooled: tuple[int, int], image: tuple[int, ...], ratio: int
) -> regions.Bins:
    boxes = regions.wide(rois)
    corners = boxes[:, 1:] * scale - 0.5
    sizes = corners[:, 2:] - corners[:, :2]
    batch, height, width = image
    return regions.Bins(
        image=regions.images_of(boxes, batch),
        rows=regions.sampled(corners[:, 1], sizes[:, 1], pooled[0], ratio, height),
        columns=regions.sampled(corners[:, 0], sizes[:, 0], pooled[1], ratio, width),
    )


def _pooled_bins(
    rois: torch.Tensor, scale: float, pooled: tuple[int, int], image: tuple[int, ...]
) -> regions.Bins:
    boxes = regions.wide(rois)
    corners = _rounded(boxes[:, 1:] * scale)
    sizes = (corners[:, 2:] - corners[:, :2]).clamp(min=1.0)
    batch, height, width = image
    rows = regions.covered(corners[:, 1], sizes[:, 1], pooled[0], height)
    columns = regions.covered(corners[:, 0], sizes[:, 0], pooled[1], width)
    return regions.Bins(
        image=regions.images_of(boxes, batch),
        rows=_mean(rows, boxes),
        columns=_mean(columns, boxes),
    )


def _rounded(x: torch.Tensor) -> torch.Tensor:
    """Round halves away from zero, as C's round does."""
    return x.sign() * (x.abs() + 0.5).floor()


def _mean(covered: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    weights = covered.to(like.dtype)
    return weights / weights.sum(-1, keepdim=True).clamp(min=1.0)


def _split(x: torch.Tensor, pooled: tuple[int, int]) -> torch.Tensor:
    """Return (N, channels, i, j, H, W) from (N, channels * i * j, H, W)."""
    rows, columns = pooled
    if x.shape[1] % (rows * columns):
        raise RuntimeError(
            f"input channels must be a multiple of pooling height * pooling width, got "
            f"{x.shape[1]} and {rows} * {columns}"
        )
    return x.reshape(x.shape[0], -1, rows, columns, *x.shape[2:])


def _pool(x: torch.Tensor, bins: regions.Bins, pooled: tuple[int, int]) -> Pair:
    found = regions.pool_by_position(_split(regions.wide(x), pooled), bins)
    channels = torch.arange(x.shape[1], dtype=torch.int32, device=x.device)
    mapping = channels.reshape(1, -1, *pooled).expand(found.shape).contiguous()
    return found.to(x.dtype), mapping


@kernel(
    "torchvision.ps_roi_align.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=regions.NONFINITE,
    expected=recorded("torchvision.ps_roi_align.default"),
)
def ps_roi_align(
    input: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
) -> Pair:
    """Return the mean of bilinear samples in each bin, and the channels they are from (int32).

    ``input`` is (N, C * bins, H, W), ``rois`` (K, 5) number of the image, x1, y1, x2, y2. Both
    results are (K, C, ``pooled_height``, ``pooled_width``).
    """
    regions.check("ps_roi_align", input, rois)
    pooled, image = (pooled_height, pooled_width), (input.shape[0], *input.shape[2:])
    bins = _aligned_bins(rois, spatial_scale, pooled, image, sampling_ratio)
    return _pool(input, bins, pooled)


@kernel(
    "torchvision.ps_roi_pool.default",
    source=_SOURCE,
    accuracy=regions.ACCURACY,
    nonfinite=regions.NONFINITE,
    expected=recorded("torchvision.ps_roi_pool.default"),
)
def ps_roi_pool(
    input: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
) -> Pair:
    """Return the mean of each bin's elements, and the channels they are from (int32).

    ``input`` is (N, C * bins, H, W), ``rois`` (K, 5) number of the image, x1, y1, x2, y2, rounded
    to elements. Both results are (K, C, ``pooled_height``, ``pooled_width``).
    """
    regions.check("ps_roi_pool", input, rois)
    pooled, image = (pooled_height, pooled_width), (input.shape[0], *input.shape[2:])
    return _pool(input, _pooled_bins(rois, spatial_scale, pooled, image), pooled)


@kernel(
    "torchvision._ps_roi_align_backward.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=regions.NONFINITE,
    expected=recorded("torchvision._ps_roi_align_backward.default"),
)
def ps_roi_align_backward(
    grad: torch.Tensor,
    rois: torch.Tensor,
    channel_mapping: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> torch.Tensor:
    """Return the gradient (``batch_size``, ``channels``, ``height``, ``width``) of the images."""
    del channel_mapping
    regions.check("ps_roi_align", grad, rois)
    pooled, image = (pooled_height, pooled_width), (batch_size, height, width)
    bins = _aligned_bins(rois, spatial_scale, pooled, image, sampling_ratio)
    found = regions.unpool_by_position(regions.wide(grad), bins)
    return found.reshape(batch_size, channels, height, width).to(grad.dtype)


@kernel(
    "torchvision._ps_roi_pool_backward.default",
    source=_SOURCE,
    accuracy=regions.ACCURACY,
    nonfinite=regions.NONFINITE,
    expected=recorded("torchvision._ps_roi_pool_backward.default"),
)
def ps_roi_pool_backward(
    grad: torch.Tensor,
    rois: torch.Tensor,
    channel_mapping: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> torch.Tensor:
    """Return the gradient (``batch_size``, ``channels``, ``height``, ``width``) of the images."""
    del channel_mapping
    regions.check("ps_roi_pool", grad, rois)
    pooled, image = (pooled_height, pooled_width), (batch_size, height, width)
    bins = _pooled_bins(rois, spatial_scale, pooled, image)
    found = regions.unpool_by_position(regions.wide(grad), bins)
    return found.reshape(batch_size, channels, height, width).to(grad.dtype)
