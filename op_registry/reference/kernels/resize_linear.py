"""Linear resize where torch-tpu has no kernel: trilinear, and the backward of the 1-d one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _resampling as resampling

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "definition, as in torch's UpSampleKernel.cpp"


def _matrices(
    x: torch.Tensor,
    sizes: Sequence[int],
    output_size: Sequence[int],
    scales: Sequence[float | None],
    align_corners: bool,
) -> list[torch.Tensor]:
    found = []
    for source, target, given in zip(sizes, output_size, scales, strict=True):
        scale = resampling.scale_of(source, target, align_corners=align_corners, given=given)
        found.append(resampling.linear(x, source, target, scale, align_corners=align_corners))
    return found


def _backward(
    name: str,
    grad_output: torch.Tensor,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales: Sequence[float | None],
) -> torch.Tensor:
    resampling.check_sizes(name, input_size, output_size)
    resampling.check_gradient(name, grad_output, [*input_size[:2], *output_size])
    x = resampling.computed(grad_output)
    matrices = _matrices(x, input_size[2:], output_size, scales, align_corners)
    return resampling.apply(x, [matrix.t() for matrix in matrices]).to(grad_output.dtype)


@kernel(
    "aten.upsample_linear1d_backward.default",
    source=_SOURCE,
    accuracy=resampling.MATMUL,
    samples=("nn.functional.interpolate", "nn.functional.upsample_bilinear"),
    nonfinite=resampling.NONFINITE,
)
def upsample_linear1d_backward(
    grad_output: torch.Tensor,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales: float | None = None,
) -> torch.Tensor:
    """Return the gradient (``input_size``: N, C, L) of linear resize of rows: one product."""
    name = "upsample_linear1d_backward"
    return _backward(name, grad_output, output_size, input_size, align_corners, [scales])


@kernel(
    "aten.upsample_trilinear3d.default",
    source=_SOURCE,
    accuracy=resampling.MATMUL,
    samples=("nn.functional.interpolate",),
    nonfinite=resampling.NONFINITE,
)
def upsample_trilinear3d(
    self: torch.Tensor,
    output_size: Sequence[int],
    align_corners: bool,
    scales_d: float | None = None,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> torch.Tensor:
    """Resize ``self`` (N, C, D, H, W) to (N, C, *``output_size``): a product an axis."""
    resampling.check_sizes("upsample_trilinear3d", self.shape, output_size)
    x = resampling.computed(self)
    scales = (scales_d, scales_h, scales_w)
    matrices = _matrices(x, self.shape[2:], output_size, scales, align_corners)
    return resampling.apply(x, matrices).to(self.dtype)


@kernel(
    "aten.upsample_trilinear3d_backward.default",
    source=_SOURCE,
    accuracy=resampling.MATMUL,
    samples=("nn.functional.interpolate",),
    nonfinite=resampling.NONFINITE,
)
def upsample_trilinear3d_backward(
    grad_output: torch.Tensor,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales_d: float | None = None,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> torch.Tensor:
    """Return the gradient (``input_size``) of that resize: products with matrices transposed."""
    name, scales = "upsample_trilinear3d_backward", (scales_d, scales_h, scales_w)
    return _backward(name, grad_output, output_size, input_size, align_corners, scales)
