"""The convolutions of particular libraries and kernels, all as ``aten.convolution``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "`aten.convolution`, which has a TPU kernel"
_ACCURACY = "accumulation order of sums"


@kernel("aten._convolution.default", source=_SOURCE, accuracy=_ACCURACY)
def convolution(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    benchmark: bool,
    deterministic: bool,
    cudnn_enabled: bool,
    allow_tf32: bool,
) -> torch.Tensor:
    """Return the convolution of ``input``; the last four say how CUDA is to compute it."""
    del benchmark, deterministic, cudnn_enabled, allow_tf32
    return torch.convolution(
        input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
    )


@kernel("aten._convolution.deprecated", source=_SOURCE, accuracy=_ACCURACY)
def convolution_deprecated(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    benchmark: bool,
    deterministic: bool,
    cudnn_enabled: bool,
) -> torch.Tensor:
    """Return the convolution of ``input``; the last three say how CUDA is to compute it."""
    del benchmark, deterministic, cudnn_enabled
    return torch.convolution(
        input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
    )


@kernel(
    "aten.convolution_overrideable.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    own_gradient="the formula calls convolution_backward_overrideable, which no backend here has",
    expected=torch.convolution,
)
def convolution_overrideable(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> torch.Tensor:
    """Return the convolution of ``input``; PyTorch asks backends of its users for this one."""
    return torch.convolution(
        input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
    )


def _depthwise(
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[int],
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> torch.Tensor:
    """Return each channel's own convolution, one kernel after another: what CUDA's ops mean.

    It has no gradient: the ops' derivative formula takes all channels together and always fails.
    """
    del kernel_size
    function = torch.nn.functional.conv2d if weight.dim() == 4 else torch.nn.functional.conv3d
    many = weight.shape[0] // self.shape[1]
    outputs = [
        function(
            self.narrow(1, channel // many, 1),
            weight.narrow(0, channel, 1),
            None if bias is None else bias.narrow(0, channel, 1),
            *(stride, padding, dilation),
        )
        for channel in range(weight.shape[0])
    ]
    return torch.cat(outputs, 1).detach()


@kernel(
    "aten._conv_depthwise2d.default",
    "aten.conv_depthwise3d.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    expected=_depthwise,
    nonfinite="kernels differ in whether the padding's zeros meet an infinite weight",
)
def conv_depthwise(
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[int],
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> torch.Tensor:
    """Return the convolution of ``self`` (batch, channels, space...), channel by channel.

    ``weight`` is (kernels, 1, size of a kernel...); each channel has equally many kernels.
    """
    del kernel_size  # it is in the weight's shape
    groups = self.shape[1]
    none = [0] * len(stride)
    return torch.convolution(
        *(self, weight, bias, stride, padding, dilation),
        transposed=False,
        output_padding=none,
        groups=groups,
    )
