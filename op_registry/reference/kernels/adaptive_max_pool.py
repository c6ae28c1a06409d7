"""Adaptive max pools of two and three dimensions, and their backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _windows

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "definition, as in torch's AdaptiveMaxPooling3d.cpp"


def _axis(x: torch.Tensor, source: int, target: int) -> torch.Tensor:
    """Return which elements of an axis each window covers, (target, widest window).

    Window i is [floor(i * source / target), ceil((i + 1) * source / target)). A narrower one
    repeats its last element.
    """
    widest = max(
        (-(-(i + 1) * source // target) - i * source // target for i in range(target)), default=0
    )
    windows = torch.arange(target, device=x.device).unsqueeze(1)
    start = (windows * source).div(target, rounding_mode="floor")
    end = ((windows + 1) * source + target - 1).div(target, rounding_mode="floor")
    return torch.minimum(start + torch.arange(widest, device=x.device), end - 1)


@kernel(
    "aten.adaptive_max_pool3d.default",
    source=_SOURCE,
    accuracy="exact",
    samples=("nn.functional.adaptive_max_pool3d",),
    tolerance=0,
)
def adaptive_max_pool3d(
    self: torch.Tensor, output_size: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the maxima (..., *``output_size``) of ``self`` ((N,) C, D, H, W), and their places."""
    return _pooled("adaptive_max_pool3d", self, output_size, 3)


@kernel(
    "aten.adaptive_max_pool2d.default",
    source=_SOURCE,
    accuracy="exact",
    samples=("nn.functional.adaptive_max_pool2d",),
    tolerance=0,
)
def adaptive_max_pool2d(
    self: torch.Tensor, output_size: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the maxima (..., *``output_size``) of ``self`` ((N,) C, H, W), and their places."""
    return _pooled("adaptive_max_pool2d", self, output_size, 2)


def _pooled(
    name: str, self: torch.Tensor, output_size: Sequence[int], axes: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return maxima and places of windows over the last ``axes`` dimensions.

    Their elements are taken along one axis after the other, at places that sizes alone give.
    """
    sizes, ranks = self.shape[-axes:], (axes + 1, axes + 2)
    if self.dim() not in ranks or 0 in self.shape[-axes - 1 :] or len(output_size) != axes:
        raise RuntimeError(
            f"{name}(): Expected {axes + 1}D or {axes + 2}D tensor with non-zero sizes and an "
            f"output size of {axes} numbers, but got {list(self.shape)} and {list(output_size)}"
        )
    windows = [_axis(self, s, t) for s, t in zip(sizes, output_size, strict=True)]
    places = _windows.flat_places(windows, sizes)
    elements = self.flatten(-axes).index_select(-1, places.flatten())
    return _windows.largest(elements.reshape(*self.shape[:-axes], *places.shape), places, axes)


def _backward(
    name: str, gradient: torch.Tensor, self: torch.Tensor, indices: torch.Tensor, axes: int
) -> torch.Tensor:
    if gradient.dim() != self.dim() or self.dim() not in (axes + 1, axes + 2):
        raise RuntimeError(
            f"{name}(): Expected {axes + 1}D or {axes + 2}D grad_output and input, but got "
            f"{list(gradient.shape)} and {list(self.shape)}"
        )
    if gradient.dtype != self.dtype:
        raise RuntimeError(
            f"expected dtype {self.dtype} for `grad_output` but got dtype {gradient.dtype}"
        )
    sizes = self.shape[-axes:]
    if 0 in gradient.shape:
        return torch.zeros_like(self)
    return _windows.spread(gradient, indices, sizes, accumulate=True)


@kernel("aten.adaptive_max_pool2d_backward.default", source=_SOURCE, accuracy="exact up to order")
def adaptive_max_pool2d_backward(
    grad_output: torch.Tensor, self: torch.Tensor, indices: torch.Tensor
) -> torch.Tensor:
    """Return the gradient, shaped like ``self`` ((N,) C, H, W): added up where each maximum was."""
    return _backward("adaptive_max_pool2d_backward", grad_output, self, indices, 2)


@kernel("aten.adaptive_max_pool3d_backward.default", source=_SOURCE, accuracy="exact up to order")
def adaptive_max_pool3d_backward(
    grad_output: torch.Tensor, self: torch.Tensor, indices: torch.Tensor
) -> torch.Tensor:
    """Return the gradient, shaped like ``self`` ((N,) C, D, H, W): added up at each maximum."""
    return _backward("adaptive_max_pool3d_backward", grad_output, self, indices, 3)
