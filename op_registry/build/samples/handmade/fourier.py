"""Samples of Fourier transforms of real numbers with an output, which counts as complex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_ROWS, _COLUMNS = 3, 6
_ONE_SIDED = True


def _output() -> torch.Tensor:
    return torch.empty(0, dtype=torch.complex64)


@handmade("aten.fft_rfft.out", "aten.fft_ihfft.out")
def half_spectrum(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield whole rows, and rows cut to a length."""
    for length in (None, 4) if dtype is torch.complex64 else ():
        yield call(torch.randn(_ROWS, _COLUMNS), length, out=_output())


@handmade("aten.fft_rfft2.out", "aten.fft_rfftn.out", "aten.fft_ihfft2.out", "aten.fft_ihfftn.out")
def half_spectrum_of_planes(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield a matrix and a stack of matrices."""
    for shape in ((_ROWS, _COLUMNS), (2, _ROWS, _COLUMNS)) if dtype is torch.complex64 else ():
        yield call(torch.randn(shape), out=_output())


@handmade("aten._fft_r2c.out")
def transform(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield transforms along one dimension and along both."""
    for dims in ([1], [0, 1]) if dtype is torch.complex64 else ():
        yield call(torch.randn(_ROWS, _COLUMNS), dims, 0, _ONE_SIDED, out=_output())
