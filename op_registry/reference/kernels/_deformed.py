"""Bilinear samples at learnt places, the columns of a deformable convolution."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """The geometry of a deformable convolution, pairs of height and width."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]
    output: tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Corner:
    """One of the four elements around each place, all (N, offset groups, 1, taps * outputs)."""

    place: torch.Tensor
    """Flat in the plane; of an element that exists."""
    valid: torch.Tensor
    """1 where the element is in the image, else 0."""
    vertical: torch.Tensor
    """How much its row counts."""
    horizontal: torch.Tensor
    down: int
    """-1 for the upper row, 1 for the lower: the sign of the derivative by the row."""
    right: int

    @property
    def weight(self) -> torch.Tensor:
        """How much the element counts."""
        return self.valid * self.vertical * self.horizontal

    @property
    def slopes(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The derivative of the weight by the row, and by the column."""
        return self.valid * self.down * self.horizontal, self.valid * self.right * self.vertical


def corners(offset: torch.Tensor, window: Window, image: tuple[int, int]) -> list[Corner]:
    """Return the elements around the places that ``offset`` leads to.

    ``offset`` is (N, offset groups * taps * 2, *output): row and column of each tap, relative to
    where an ordinary convolution looks.
    """
    y, x = _places(offset, window)
    height, width = image
    top, left = y.floor(), x.floor()
    found = []
    for down in (0, 1):
        for right in (0, 1):
            row, column = top + down, left + right
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            place = row.clamp(0, height - 1) * width + column.clamp(0, width - 1)
            found.append(
                Corner(
                    place=place.long(),
                    valid=inside.to(y.dtype),
                    vertical=1 - (y - row).abs(),
                    horizontal=1 - (x - column).abs(),
                    down=2 * down - 1,
                    right=2 * right - 1,
                )
            )
    return found


def _places(offset: torch.Tensor, window: Window) -> tuple[torch.Tensor, torch.Tensor]:
    taps = window.kernel[0] * window.kernel[1]
    moved = offset.reshape(offset.shape[0], -1, taps, 2, *window.output)
    axes = []
    for axis in (0, 1):
        tap = torch.arange(window.kernel[axis], dtype=offset.dtype, device=offset.device)
        out = torch.arange(window.output[axis], dtype=offset.dtype, device=offset.device)
        shape = [1, 1, 1, 1]
        shape[axis] = -1
        tap = (tap * window.dilation[axis]).reshape(shape)
        shape = [1, 1, 1, 1]
        shape[2 + axis] = -1
        place = tap + (out * window.stride[axis] - window.padding[axis]).reshape(shape)
        place = place.expand(*window.kernel, *window.output).reshape(taps, *window.output)
        axes.append((place + moved[:, :, :, axis]).flatten(2).unsqueeze(2))
    return axes[0], axes[1]


def gather(x: torch.Tensor, corner: Corner) -> torch.Tensor:
    """Return the corner's elements (N, offset groups, channels, taps * outputs).

    ``x`` is (N, offset groups, channels, height * width).
    """
    place = corner.place.expand(-1, -1, x.shape[2], -1)
    return x.gather(3, place)


def scatter(values: torch.Tensor, corner: Corner, elements: int) -> torch.Tensor:
    """Add ``values`` (N, offset groups, channels, taps * outputs) up where the corner is."""
    zeros = values.new_zeros((*values.shape[:3], elements))
    return zeros.scatter_add(3, corner.place.expand(-1, -1, values.shape[2], -1), values)
