"""Orthogonal polynomials: orders that torch's own inputs do not reach, and numbers for tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_NAMES = (
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    *("hermite_polynomial_h", "hermite_polynomial_he"),
    *("laguerre_polynomial_l", "legendre_polynomial_p"),
)
_TAKEN = (torch.float32, torch.float64, torch.int64, torch.int32, torch.int8, torch.uint8)
"""Dtypes that eager takes."""


def _ops(form: str) -> Iterator[str]:
    return (f"aten.special_{name}.{form}" for name in _NAMES)


@handmade(*_ops("default"))
def of_tensors(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield points around [-1, 1] with its ends, against orders from below zero upwards."""
    if dtype.is_floating_point and dtype in _TAKEN:
        points = torch.tensor([-1.25, -1, -0.99, -0.5, 0, 0.3, 0.5, 1, 1.125], dtype=dtype)
        orders = torch.tensor([-2, -0.5, 0, 1, 2, 3.9, 5, 8, 9, 16, 17], dtype=dtype)
        yield call(points.unsqueeze(1), orders)
        yield call(points / 8 + 0.5, torch.tensor(30, dtype=dtype))


@handmade(*_ops("x_scalar"))
def at_a_number(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield one point against several orders."""
    if dtype in _TAKEN:
        for x in (0.75, 2):
            yield call(x, torch.arange(8).to(dtype))


@handmade(*_ops("n_scalar"))
def of_a_number(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield several points against one order."""
    if dtype in _TAKEN:
        for n in (0, 1, 6, 11, 2.5, -1):
            yield call(torch.linspace(0, 2, 5).to(dtype), n)
