"""Antialiased resize of images, bilinear, bicubic and Lanczos, with the backward of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _resampling as resampling

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_BITS, _LARGEST = 22, 1 << 15
"""Of the weights of bytes."""
_SOURCE = "PIL's resize, as in torch's UpSampleKernel.cpp"
_ACCURACY = f"{resampling.MATMUL}; uint8 as eager's fixed point"
_SAMPLES = ("nn.functional.interpolate",)
_FILTERS = {
    "bilinear": (resampling.triangle, 1.0),
    "bicubic": (resampling.cubic, 2.0),
    "lanczos": (resampling.lanczos, 3.0),
}


def _matrices(
    x: torch.Tensor,
    sizes: Sequence[int],
    output_size: Sequence[int],
    scales: Sequence[float | None],
    filter_name: str,
    align_corners: bool,
) -> list[torch.Tensor]:
    found = []
    for source, target, given in zip(sizes, output_size, scales, strict=True):
        scale = resampling.scale_of(source, target, align_corners=align_corners, given=given)
        found.append(resampling.antialiased(x, source, target, scale, *_FILTERS[filter_name]))
    return found


def _forward(
    filter_name: str,
    self: torch.Tensor,
    output_size: Sequence[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> torch.Tensor:
    resampling.check_sizes(f"_upsample_{filter_name}2d_aa", self.shape, output_size)
    # The weights of bytes are rounded: f64 keeps them from falling on the other side.
    x = self.double() if self.dtype == torch.uint8 else resampling.computed(self)
    scales = (scales_h, scales_w)
    given = (x, self.shape[2:], output_size, scales, filter_name, align_corners)
    matrices = _matrices(*given)
    if self.dtype == torch.uint8:
        return _of_bytes(x, matrices)
    return resampling.apply(x, matrices).to(self.dtype)


def _of_bytes(x: torch.Tensor, matrices: Sequence[torch.Tensor]) -> torch.Tensor:
    """Resize uint8 as eager does: in fixed point, rows first, rounded to bytes after each axis."""
    vertical, horizontal = (None if m.shape[0] == m.shape[1] else m for m in matrices)
    x = x.int()
    if horizontal is not None:  # eager skips an axis that keeps its size
        x = _fixed_point(x, horizontal)
    if vertical is not None:
        x = _fixed_point(x.mT, vertical).mT
    return x.to(torch.uint8)


def _fixed_point(x: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Weigh the last axis of ``x`` by 16-bit numbers, with the most bits that the largest takes."""
    powers = 2.0 ** torch.arange(1, _MOST_BITS + 1, dtype=matrix.dtype, device=x.device)
    bits = ((matrix.max() * powers + 0.5).floor() < _LARGEST).sum()
    scaled = matrix * torch.where(bits > 0, 2.0**bits, 1.0)
    weights = (scaled.sign() * (scaled.abs() + 0.5).floor()).int()
    half = torch.where(bits > 0, 2 ** (bits - 1), 0).int()
    # torch-tpu multiplies no matrices of integers.
    total = (x.unsqueeze(-2) * weights).sum(-1, dtype=torch.int32)
    return ((total + half) >> bits.int()).clamp(0, 255)


def _backward(
    filter_name: str,
    grad_output: torch.Tensor,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> torch.Tensor:
    name = f"_upsample_{filter_name}2d_aa_backward"
    resampling.check_sizes(name, input_size, output_size)
    resampling.check_gradient(name, grad_output, [*input_size[:2], *output_size])
    x = resampling.computed(grad_output)
    scales = (scales_h, scales_w)
    given = (x, input_size[2:], output_size, scales, filter_name, align_corners)
    result = resampling.apply(x, [matrix.t() for matrix in _matrices(*given)])
    return result.to(grad_output.dtype)


@kernel(
    "aten._upsample_bilinear2d_aa.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    samples=_SAMPLES,
    nonfinite=resampling.NONFINITE,
)
def upsample_bilinear2d_aa(
    self: torch.Tensor,
    output_size: Sequence[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> torch.Tensor:
    """Resize ``self`` (N, C, H, W) to (N, C, *``output_size``) with a triangle.

    The filter is widened where an axis shrinks; one matrix product an axis.
    """
    return _forward("bilinear", self, output_size, align_corners, scales_h, scales_w)


@kernel(
    "aten._upsample_bilinear2d_aa_backward.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    samples=_SAMPLES,
    nonfinite=resampling.NONFINITE,
)
def upsample_bilinear2d_aa_backward(
    grad_output: torch.Tensor,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> torch.Tensor:
    """Return the gradient (``input_size``) of that resize: products with matrices transposed."""
    given = (output_size, input_size, align_corners, scales_h, scales_w)
    return _backward("bilinear", grad_output, *given)


@kernel(
    "aten._upsample_bicubic2d_aa.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    samples=_SAMPLES,
    nonfinite=resampling.NONFINITE,
)
def upsample_bicubic2d_aa(
    self: torch.Tensor,
    output_size: Sequence[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> torch.Tensor:
    """Resize ``self`` (N, C, H, W) to (N, C, *``output_size``) with Keys' cubic (a = -0.5).

    The filter is widened where an axis shrinks; one matrix product an axis.
    """
    return _forward("bicubic", self, output_size, align_corners, scales_h, scales_w)


@kernel(
    "aten._upsample_bicubic2d_aa_backward.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    samples=_SAMPLES,
    nonfinite=resampling.NONFINITE,
)
def upsample_bicubic2d_aa_backward(
    grad_output: torch.Tensor,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> torch.Tensor:
    """Return the gradient (``input_size``) of that resize: products with matrices transposed."""
    given = (output_size, input_size, align_corners, scales_h, scales_w)
    return _backward("bicubic", grad_output, *given)


@kernel(
    "aten._upsample_lanczos2d_aa.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    samples=_SAMPLES,
    nonfinite=resampling.NONFINITE,
)
def upsample_lanczos2d_aa(
    self: torch.Tensor,
    output_size: Sequence[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> torch.Tensor:
    """Resize ``self`` (N, C, H, W) to (N, C, *``output_size``) with Lanczos' filter of three lobes.

    The filter is widened where an axis shrinks; one matrix product an axis.
    """
    return _forward("lanczos", self, output_size, align_corners, scales_h, scales_w)


@kernel(
    "aten._upsample_lanczos2d_aa_backward.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    samples=_SAMPLES,
    nonfinite=resampling.NONFINITE,
)
def upsample_lanczos2d_aa_backward(
    grad_output: torch.Tensor,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> torch.Tensor:
    """Return the gradient (``input_size``) of that resize: products with matrices transposed."""
    given = (output_size, input_size, align_corners, scales_h, scales_w)
    return _backward("lanczos", grad_output, *given)
