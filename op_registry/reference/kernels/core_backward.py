"""The backward of grid sampling and of pooling with indices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch._decomp import decomposition_table

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._vjp import ACCURACY, SOURCE, vjp

if TYPE_CHECKING:
    from collections.abc import Sequence

_GRID = decomposition_table[torch.ops.aten.grid_sampler_2d.default]


@kernel(
    "aten.grid_sampler_2d_backward.default",
    source=SOURCE,
    accuracy=ACCURACY,
    samples=("nn.functional.grid_sample",),
    tolerance=10.0,
    nonfinite="where a point that is no number reads is not defined",
)
def grid_sampler_2d_backward(
    grad_output: torch.Tensor,
    input: torch.Tensor,
    grid: torch.Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[torch.Tensor | None, torch.Tensor]:
    """Return the gradients of ``input`` (N, C, H, W), if asked for, and ``grid`` (N, h, w, 2).

    ``grad_output`` (N, C, h, w) is that of ``input`` read at the points of ``grid``.
    """
    modes = (interpolation_mode, padding_mode, align_corners)
    found = vjp(lambda x, points: _GRID(x, points, *modes), [input, grid], grad_output)
    return found[0] if output_mask[0] else None, found[1]


@kernel(
    "aten.max_pool3d_with_indices_backward.default",
    source="definition: a window's gradient goes to the element that its index names",
    accuracy="as `sum` where windows overlap",
    samples=("nn.functional.max_pool3d",),
)
def max_pool3d_with_indices_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: torch.Tensor,
) -> torch.Tensor:
    """Return the gradient of ``self`` (*, D, H, W); ``indices`` count within D * H * W."""
    del kernel_size, stride, padding, dilation, ceil_mode  # the indices say it
    flat = torch.zeros_like(self).flatten(-3)
    added = flat.scatter_add(-1, indices.flatten(-3), grad_output.flatten(-3))
    return added.reshape(self.shape)
