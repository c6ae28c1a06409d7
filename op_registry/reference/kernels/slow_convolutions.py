"""Convolutions of the CPU's own kernels, all as ``aten.convolution``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._outputs import put

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "`aten.convolution`, which has a TPU kernel"
_ACCURACY = "accumulation order of sums"
_NONFINITE = "kernels differ in whether the padding's zeros meet an infinite weight"
_Gradients = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


@kernel(
    "aten._slow_conv2d_forward.default",
    "aten.slow_conv3d_forward.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=_NONFINITE,
)
def slow_conv_forward(
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[int],
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
) -> torch.Tensor:
    """Return the convolution of ``self`` (batch, channels, space...) with ``weight``."""
    _check_kernel(weight, kernel_size)
    ones = [1] * len(kernel_size)
    return _plain(self, weight, bias, stride, padding, ones)


@kernel(
    "aten._slow_conv2d_backward.output_mask",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=_NONFINITE,
)
def slow_conv2d_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_mask: Sequence[bool],
) -> _Gradients:
    """Return the gradients of input, weight and bias; None where ``output_mask`` is false."""
    _check_kernel(weight, kernel_size)
    bias_sizes = [weight.shape[0]] if output_mask[2] else None
    found: _Gradients = torch.ops.aten.convolution_backward(
        *(grad_output, self, weight, bias_sizes, stride, padding, [1, 1]),
        *(False, [0, 0], 1, output_mask),
    )
    return found


@kernel(
    "aten._slow_conv2d_backward.grad_input",
    source=_SOURCE,
    accuracy=_ACCURACY,
    nonfinite=_NONFINITE,
)
def slow_conv2d_backward_into(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    *,
    grad_input: torch.Tensor,
    grad_weight: torch.Tensor,
    grad_bias: torch.Tensor,
) -> _Gradients:
    """Put the gradients of input, weight and bias into the last three arguments."""
    found = slow_conv2d_backward(
        grad_output, self, weight, kernel_size, stride, padding, [True, True, True]
    )
    outs = (grad_input, grad_weight, grad_bias)
    first, second, third = (put(out, one) for out, one in zip(outs, found, strict=True))
    return first, second, third


@kernel(
    "aten.slow_conv_dilated2d.default", source=_SOURCE, accuracy=_ACCURACY, nonfinite=_NONFINITE
)
def slow_conv_dilated2d(
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[int],
    bias: torch.Tensor | None = None,
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
) -> torch.Tensor:
    """Return the dilated convolution of ``self`` ([batch,] channels, height, width)."""
    _check_kernel(weight, kernel_size)
    return _plain(self, weight, bias, stride, padding, dilation)


@kernel(
    "aten.slow_conv_dilated3d.default", source=_SOURCE, accuracy=_ACCURACY, nonfinite=_NONFINITE
)
def slow_conv_dilated3d(
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[int],
    bias: torch.Tensor | None = None,
    stride: Sequence[int] = (1, 1, 1),
    padding: Sequence[int] = (0, 0, 0),
    dilation: Sequence[int] = (1, 1, 1),
) -> torch.Tensor:
    """Return the dilated convolution of ``self`` ([batch,] channels, depth, height, width)."""
    _check_kernel(weight, kernel_size)
    return _plain(self, weight, bias, stride, padding, dilation)


@kernel(
    "aten.slow_conv_transpose2d.default", source=_SOURCE, accuracy=_ACCURACY, nonfinite=_NONFINITE
)
def slow_conv_transpose2d(
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[int],
    bias: torch.Tensor | None = None,
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    output_padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
) -> torch.Tensor:
    """Return the transposed convolution of ``self`` (batch, channels, height, width)."""
    _check_kernel(weight, kernel_size)
    return torch.convolution(
        *(self, weight, bias, stride, padding, dilation),
        transposed=True,
        output_padding=output_padding,
        groups=1,
    )


@kernel(
    "aten.slow_conv_transpose3d.default", source=_SOURCE, accuracy=_ACCURACY, nonfinite=_NONFINITE
)
def slow_conv_transpose3d(
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[int],
    bias: torch.Tensor | None = None,
    stride: Sequence[int] = (1, 1, 1),
    padding: Sequence[int] = (0, 0, 0),
    output_padding: Sequence[int] = (0, 0, 0),
    dilation: Sequence[int] = (1, 1, 1),
) -> torch.Tensor:
    """Return the transposed convolution of ``self`` (batch, channels, depth, height, width)."""
    _check_kernel(weight, kernel_size)
    return torch.convolution(
        *(self, weight, bias, stride, padding, dilation),
        transposed=True,
        output_padding=output_padding,
        groups=1,
    )


def _plain(
    self: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> torch.Tensor:
    """Return the convolution of ``self``, which may come without a batch dimension."""
    how = (stride, padding, dilation, False, [0] * len(stride), 1)
    if self.dim() == weight.dim():
        return torch.convolution(self, weight, bias, *how)
    return torch.convolution(self.unsqueeze(0), weight, bias, *how).squeeze(0)


def _check_kernel(weight: torch.Tensor, kernel_size: Sequence[int]) -> None:
    if list(weight.shape[2:]) != list(kernel_size):
        raise RuntimeError(
            f"expected a weight for kernels of size {list(kernel_size)}, but got {weight.shape}"
        )
