"""Fractional max pools, whose windows start where given random numbers put them, and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _windows

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "Graham, Fractional Max-Pooling (2014), as in torch's FractionalMaxPool2d.cpp"
_ACCURACY = (
    "exact; where the windows start is computed in the dtype of random_samples, as eager does"
)


def _starts(sample: torch.Tensor, source: int, target: int, width: int) -> torch.Tensor:
    """Return where the windows of an axis start, (N, C, target), from ``sample`` (N, C)."""
    last = torch.full_like(sample, source - width, dtype=torch.int64).unsqueeze(-1)
    if target == 1:
        return last
    numbers = torch.arange(target - 1, device=sample.device).to(sample.dtype)
    step = torch.full((), float(source - width), dtype=sample.dtype, device=sample.device)
    step = step / float(target - 1)
    sample = sample.unsqueeze(-1)
    starts = ((numbers + sample) * step).long() - (sample * step).long()
    return torch.cat([starts, last], -1)


def _forward(
    name: str,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    output_size: Sequence[int],
    random_samples: torch.Tensor,
    order: Sequence[int],
) -> tuple[torch.Tensor, torch.Tensor]:
    axes = len(order)
    _check(name, self, kernel_size, output_size, random_samples, axes)
    batched = self if self.dim() == axes + 2 else self.unsqueeze(0)
    sizes = batched.shape[2:]
    covered = []
    for axis, column in enumerate(order):
        width = kernel_size[axis]
        sample = random_samples[: batched.shape[0], :, column]
        starts = _starts(sample, sizes[axis], output_size[axis], width)
        covered.append(starts.unsqueeze(-1) + torch.arange(width, device=self.device))
    places = _windows.flat_places(covered, sizes)
    elements = batched.flatten(2).gather(2, places.flatten(2)).reshape(places.shape)
    value, place = _windows.largest(elements, places, axes)
    return (value, place) if self.dim() == axes + 2 else (value.squeeze(0), place.squeeze(0))


def _check(
    name: str,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    output_size: Sequence[int],
    random_samples: torch.Tensor,
    axes: int,
) -> None:
    if self.dim() not in (axes + 1, axes + 2) or 0 in self.shape[-axes - 1 :]:
        raise RuntimeError(
            f"{name}(): Expected {axes + 1}D or {axes + 2}D tensor with non-zero sizes, but got "
            f"{list(self.shape)}"
        )
    if len(kernel_size) != axes or len(output_size) != axes:
        raise RuntimeError(f"{name}(): kernel_size and output_size must have {axes} numbers")
    for source, target, width in zip(self.shape[-axes:], output_size, kernel_size, strict=True):
        if target + width - 1 > source:
            raise RuntimeError(f"{name}(): kernel size {width} is too large for input of {source}")
    if self.dtype != random_samples.dtype:
        raise RuntimeError(f"{name}(): Expect _random_samples to have the same dtype as input")
    _check_samples(name, self, random_samples, axes)


def _check_samples(name: str, self: torch.Tensor, random_samples: torch.Tensor, axes: int) -> None:
    batch = self.shape[0] if self.dim() == axes + 2 else 1
    shape = random_samples.shape
    fits = len(shape) == 3 and shape[0] >= batch and shape[1] == self.shape[-axes - 1]
    if not fits or shape[2] != axes:
        raise RuntimeError(
            f"{name}(): Expect _random_samples of shape [{batch}, {self.shape[-axes - 1]}, {axes}],"
            f" but got {list(shape)}"
        )


def _backward(
    name: str,
    gradient: torch.Tensor,
    self: torch.Tensor,
    output_size: Sequence[int],
    indices: torch.Tensor,
) -> torch.Tensor:
    axes = len(output_size)
    if list(gradient.shape) != [*self.shape[:-axes], *output_size]:
        raise RuntimeError(f"{name}(): gradOutput sizes unexpected: {list(gradient.shape)}")
    return _windows.spread(gradient, indices, self.shape[-axes:], accumulate=True)


@kernel("aten.fractional_max_pool2d.default", source=_SOURCE, accuracy=_ACCURACY, tolerance=0)
def fractional_max_pool2d(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    output_size: Sequence[int],
    random_samples: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the maxima (..., *``output_size``) of ``self`` ((N,) C, H, W), and their places.

    ``random_samples`` (N, C, 2) are uniform in [0, 1), first for the width, then for the height.
    The elements of the windows are gathered.
    """
    name = "fractional_max_pool2d"
    return _forward(name, self, kernel_size, output_size, random_samples, (1, 0))


@kernel("aten.fractional_max_pool3d.default", source=_SOURCE, accuracy=_ACCURACY, tolerance=0)
def fractional_max_pool3d(
    self: torch.Tensor,
    kernel_size: Sequence[int],
    output_size: Sequence[int],
    random_samples: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the maxima (..., *``output_size``) of ``self`` ((N,) C, D, H, W), and their places.

    ``random_samples`` (N, C, 3) are uniform in [0, 1), for depth, height and width. The elements of
    the windows are gathered.
    """
    name = "fractional_max_pool3d"
    return _forward(name, self, kernel_size, output_size, random_samples, (0, 1, 2))


@kernel("aten.fractional_max_pool2d_backward.default", source=_SOURCE, accuracy="exact up to order")
def fractional_max_pool2d_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    output_size: Sequence[int],
    indices: torch.Tensor,
) -> torch.Tensor:
    """Return the gradient, shaped like ``self`` ((N,) C, H, W): added up at each maximum."""
    del kernel_size  # the places say it all
    name = "fractional_max_pool2d_backward"
    return _backward(name, grad_output, self, output_size, indices)


@kernel("aten.fractional_max_pool3d_backward.default", source=_SOURCE, accuracy="exact up to order")
def fractional_max_pool3d_backward(
    grad_output: torch.Tensor,
    self: torch.Tensor,
    kernel_size: Sequence[int],
    output_size: Sequence[int],
    indices: torch.Tensor,
) -> torch.Tensor:
    """Return the gradient, shaped like ``self`` ((N,) C, D, H, W): added up at each maximum."""
    del kernel_size  # the places say it all
    name = "fractional_max_pool3d_backward"
    return _backward(name, grad_output, self, output_size, indices)
