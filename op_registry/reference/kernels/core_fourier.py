"""Fourier transforms by their definition: a product with the matrix of the roots of one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "definition of the discrete Fourier transform"
_ACCURACY = "sums n products where a fast transform adds in log n steps"
_FFT = ("fft.fft", "fft.ifft", "fft.fft2", "fft.fftn", "fft.hfft", "fft.ihfft")
_REAL = ("fft.rfft", "fft.irfft", "fft.rfftn", "fft.irfftn", "fft.hfft", "fft.ihfft", "stft")
_REALS = {torch.complex64: torch.float32, torch.complex128: torch.float64}


@kernel("aten._fft_c2c.default", source=_SOURCE, accuracy=_ACCURACY, samples=_FFT, tolerance=10.0)
def fft_c2c(
    self: torch.Tensor, dim: Sequence[int], normalization: int, forward: bool
) -> torch.Tensor:
    """Return the transform of complex ``self`` over ``dim``; backward is without the minus sign.

    ``normalization``: 0 none, 1 by the square root of the number of elements, 2 by that number.
    """
    if not self.is_complex():
        raise RuntimeError("_fft_c2c: expected a complex tensor")
    result = self
    for one in dim:
        result = _along(result, one, forward=forward)
    return result * _factor([self.shape[one] for one in dim], normalization)


@kernel(
    "aten._fft_r2c.default",
    source=_SOURCE,
    accuracy=_ACCURACY,
    samples=_REAL,
    tolerance=10.0,
    nonfinite="here an infinity meets every root of one, zeros among their parts, and gives NaN",
)
def fft_r2c(
    self: torch.Tensor, dim: Sequence[int], normalization: int, onesided: bool
) -> torch.Tensor:
    """Return the transform of real ``self`` over ``dim``.

    With ``onesided`` the last of ``dim`` has only its first half, which decides the other.
    """
    if not self.is_floating_point():
        raise RuntimeError("_fft_r2c: expected a real tensor")
    values = torch.complex(self, torch.zeros_like(self))
    result = fft_c2c(values, dim, normalization, forward=True)
    last = self.shape[dim[-1]] // 2 + 1
    return result.narrow(dim[-1], 0, last) if onesided else result


@kernel("aten._fft_c2r.default", source=_SOURCE, accuracy=_ACCURACY, samples=_REAL, tolerance=10.0)
def fft_c2r(
    self: torch.Tensor, dim: Sequence[int], normalization: int, last_dim_size: int
) -> torch.Tensor:
    """Return the backward transform whose input is the first half of a symmetric one.

    The last of ``dim`` has ``last_dim_size`` elements in the result, which is real.
    """
    if not self.is_complex():
        raise RuntimeError("_fft_c2r: expected a complex tensor")
    result = self
    for one in dim[:-1]:
        result = _along(result, one, forward=False)
    lines = result.movedim(dim[-1], -1)
    lines = lines[..., : last_dim_size // 2 + 1]
    # Each element but the first, and the middle one, stands for its mirror image as well.
    places = torch.arange(lines.shape[-1], device=self.device)
    twice = torch.where((places == 0) | (2 * places == last_dim_size), 1, 2)
    angle = _angles(lines.shape[-1], last_dim_size, self.dtype, self.device)
    real = (lines.real * twice) @ angle.cos() - (lines.imag * twice) @ angle.sin()
    shape = [last_dim_size if one == dim[-1] else self.shape[one] for one in dim]
    return real.movedim(-1, dim[-1]) * _factor(shape, normalization)


def _along(values: torch.Tensor, dim: int, *, forward: bool) -> torch.Tensor:
    lines = values.movedim(dim, -1)
    size = lines.shape[-1]
    angle = _angles(size, size, values.dtype, values.device)
    roots = torch.complex(angle.cos(), -angle.sin() if forward else angle.sin())
    return (lines @ roots).movedim(-1, dim)


def _angles(rows: int, size: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Return 2 pi j k / size for j of ``rows`` and k of ``size``, small turns only."""
    steps = torch.arange(rows, device=device).unsqueeze(-1) * torch.arange(size, device=device)
    return (steps % size).to(_REALS[dtype]) * (2 * math.pi / size)


def _factor(sizes: Sequence[int], normalization: int) -> float:
    count = math.prod(sizes)
    return (1.0, 1 / math.sqrt(count) if count else 1.0, 1 / count if count else 1.0)[normalization]
