"""``torchvision::deform_conv2d`` and its backward."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _deformed as deformed
from op_registry.reference.kernels._regions import wide
from op_registry.reference.recorded import recorded

_SOURCE = "Zhu et al., Deformable ConvNets v2 (2019), as in torchvision's deform_conv2d_kernel.cpp"
_ACCURACY = (
    "rounding of f32 sums over channels and taps; on a TPU f32 products run at the precision that "
    "torch.set_float32_matmul_precision sets"
)
_NONFINITE = "0 * inf is NaN: an infinite element spoils what its neighbours are sampled for"


@kernel(
    "torchvision.deform_conv2d.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=_NONFINITE,
    expected=recorded("torchvision.deform_conv2d.default"),
)
def deform_conv2d(
    input: torch.Tensor,
    weight: torch.Tensor,
    offset: torch.Tensor,
    mask: torch.Tensor,
    bias: torch.Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> torch.Tensor:
    """Return a convolution (N, O, oh, ow) whose taps look where ``offset`` says.

    ``input`` is (N, C, H, W), ``weight`` (O, C / ``groups``, kh, kw), ``offset``
    (N, 2 * ``offset_groups`` * kh * kw, oh, ow), ``mask`` (N, ``offset_groups`` * kh * kw, oh, ow)
    weighs the taps if ``use_mask``, ``bias`` is (O). The four elements around each place are
    gathered, then it is one product.
    """
    settings = (stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w)
    window = _window(input, weight, offset, settings, offset_groups)
    columns, _, _ = _columns(input, offset, mask, window, offset_groups, use_mask)
    kernels = wide(weight).reshape(groups, weight.shape[0] // groups, -1)
    columns = columns.reshape(input.shape[0], groups, kernels.shape[2], -1)
    result = torch.matmul(kernels, columns).reshape(input.shape[0], -1, *window.output)
    return (result + wide(bias).reshape(1, -1, 1, 1)).to(input.dtype)


@kernel(
    "torchvision._deform_conv2d_backward.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=_NONFINITE,
    expected=recorded("torchvision._deform_conv2d_backward.default"),
)
def deform_conv2d_backward(
    grad: torch.Tensor,
    input: torch.Tensor,
    weight: torch.Tensor,
    offset: torch.Tensor,
    mask: torch.Tensor,
    bias: torch.Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of input, weight, offset, mask and bias, shaped like them.

    ``grad`` is (N, O, oh, ow). The columns are sampled again; their gradient is a product with the
    weights, and is added up where the columns came from.
    """
    settings = (stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w)
    window = _window(input, weight, offset, settings, offset_groups)
    columns, sampled, scale = _columns(input, offset, mask, window, offset_groups, use_mask)
    batch, outputs = input.shape[0], wide(grad).reshape(input.shape[0], groups, -1, _size(window))
    kernels = wide(weight).reshape(groups, weight.shape[0] // groups, -1)
    flat = columns.reshape(batch, groups, kernels.shape[2], -1)
    of_weight = torch.einsum("ngop,ngkp->gok", outputs, flat).reshape(weight.shape)
    of_columns = torch.matmul(kernels.mT, outputs).reshape(columns.shape)
    of_mask = (of_columns * sampled).sum(2).reshape(mask.shape) if use_mask else mask * 0
    of_input, of_offset = _sampling_backward(
        of_columns * scale, input, offset, window, offset_groups
    )
    found = (of_input, of_weight, of_offset, of_mask, wide(grad).sum((0, 2, 3)))
    given = (input, weight, offset, mask, bias)
    first, second, third, fourth, last = (
        one.to(like.dtype) for one, like in zip(found, given, strict=True)
    )
    return first, second, third, fourth, last


def _sampling_backward(
    gradient: torch.Tensor,
    x: torch.Tensor,
    offset: torch.Tensor,
    window: deformed.Window,
    offset_groups: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients of the image and of the offsets from that of the samples."""
    height, width = x.shape[2:]
    planes = wide(x).reshape(x.shape[0], offset_groups, -1, height * width)
    of_planes = torch.zeros_like(planes)
    of_places = torch.zeros_like(gradient[:, :, :1]).expand(-1, -1, 2, -1)
    for corner in deformed.corners(wide(offset), window, (height, width)):
        of_planes = of_planes + deformed.scatter(gradient * corner.weight, corner, height * width)
        moved = (gradient * deformed.gather(planes, corner)).sum(2, keepdim=True)
        of_places = of_places + moved * torch.cat(corner.slopes, 2)
    taps = window.kernel[0] * window.kernel[1]
    of_offset = of_places.reshape(x.shape[0], offset_groups, 2, taps, *window.output)
    return of_planes.reshape(x.shape), of_offset.transpose(2, 3).reshape(offset.shape)


def _columns(
    x: torch.Tensor,
    offset: torch.Tensor,
    mask: torch.Tensor,
    window: deformed.Window,
    offset_groups: int,
    use_mask: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the columns, the samples that they are made of, and what these are weighed with.

    All are (N, offset groups, channels, taps * outputs), or broadcast to it.
    """
    height, width = x.shape[2:]
    planes = wide(x).reshape(x.shape[0], offset_groups, -1, height * width)
    found = deformed.corners(wide(offset), window, (height, width))
    first, *others = (deformed.gather(planes, corner) * corner.weight for corner in found)
    samples = sum(others, first)
    if not use_mask:
        return samples, samples, samples.new_ones(())
    scale = wide(mask).reshape(x.shape[0], offset_groups, 1, -1)
    return samples * scale, samples, scale


def _size(window: deformed.Window) -> int:
    return window.output[0] * window.output[1]


def _window(
    x: torch.Tensor,
    weight: torch.Tensor,
    offset: torch.Tensor,
    settings: tuple[int, ...],
    offset_groups: int,
) -> deformed.Window:
    """Return the geometry; raises RuntimeError when ``offset`` does not fit it."""
    if x.dim() != 4 or offset.dim() != 4 or weight.dim() != 4:
        raise RuntimeError(
            f"deform_conv2d: expected 4 dimensions, got input {list(x.shape)}, weight "
            f"{list(weight.shape)} and offset {list(offset.shape)}"
        )
    stride, padding, dilation = settings[:2], settings[2:4], settings[4:]
    kernel_size = (weight.shape[2], weight.shape[3])
    height, width = (
        (size + 2 * pad - (step * (taps - 1) + 1)) // pace + 1
        for size, pad, step, taps, pace in zip(
            x.shape[2:], padding, dilation, kernel_size, stride, strict=True
        )
    )
    wanted = [x.shape[0], 2 * offset_groups * kernel_size[0] * kernel_size[1], height, width]
    if list(offset.shape) != wanted:
        raise RuntimeError(
            f"deform_conv2d: offset should be {wanted} for this input and weight, got "
            f"{list(offset.shape)}"
        )
    return deformed.Window(
        kernel=kernel_size,
        stride=(stride[0], stride[1]),
        padding=(padding[0], padding[1]),
        dilation=(dilation[0], dilation[1]),
        output=(height, width),
    )
