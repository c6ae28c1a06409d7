"""``torchvision::roi_align`` and its backward."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _regions as regions
from op_registry.reference.recorded import recorded

_SOURCE = "He et al., Mask R-CNN (2017), as in torchvision's roi_align_kernel.cpp"
_ACCURACY = (
    f"{regions.ACCURACY}; with sampling_ratio 0 a region larger than the image is sampled as "
    "densely as one of its size, where eager samples on"
)


def _bins(
    rois: torch.Tensor,
    scale: float,
    pooled: tuple[int, int],
    image: tuple[int, int, int],
    ratio: int,
    aligned: bool,
) -> regions.Bins:
    boxes = regions.wide(rois)
    corners = boxes[:, 1:] * scale - (0.5 if aligned else 0.0)
    sizes = corners[:, 2:] - corners[:, :2]
    if not aligned:
        sizes = sizes.clamp(min=1.0)
    batch, height, width = image
    return regions.Bins(
        image=regions.images_of(boxes, batch),
        rows=regions.sampled(corners[:, 1], sizes[:, 1], pooled[0], ratio, height),
        columns=regions.sampled(corners[:, 0], sizes[:, 0], pooled[1], ratio, width),
    )


@kernel(
    "torchvision.roi_align.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=regions.NONFINITE,
    expected=recorded("torchvision.roi_align.default"),
)
def roi_align(
    input: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> torch.Tensor:
    """Return the mean of bilinear samples in each bin of each region of ``input`` (N, C, H, W).

    ``rois`` (K, 5) are number of the image, x1, y1, x2, y2, times ``spatial_scale``. The result is
    (K, C, ``pooled_height``, ``pooled_width``). A bin has ``sampling_ratio`` samples along each
    axis; with 0 as many as it has elements. ``aligned`` shifts by half an element.
    """
    regions.check("roi_align", input, rois)
    batch, _, height, width = input.shape
    pooled = (pooled_height, pooled_width)
    image = (batch, height, width)
    bins = _bins(rois, spatial_scale, pooled, image, sampling_ratio, aligned)
    return regions.pool(regions.wide(input), bins).to(input.dtype)


@kernel(
    "torchvision._roi_align_backward.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=regions.NONFINITE,
    expected=recorded("torchvision._roi_align_backward.default"),
)
def roi_align_backward(
    grad: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
    sampling_ratio: int,
    aligned: bool,
) -> torch.Tensor:
    """Return the gradient (``batch_size``, ``channels``, ``height``, ``width``) of the images.

    ``grad`` is (K, ``channels``, ``pooled_height``, ``pooled_width``); the forward's products,
    transposed.
    """
    regions.check("roi_align", grad, rois)
    del channels
    pooled, image = (pooled_height, pooled_width), (batch_size, height, width)
    bins = _bins(rois, spatial_scale, pooled, image, sampling_ratio, aligned)
    return regions.unpool(regions.wide(grad), bins).to(grad.dtype)
