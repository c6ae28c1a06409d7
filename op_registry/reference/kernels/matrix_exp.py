"""``matrix_exp`` by scaling and squaring, with as many products for every matrix.

A is divided by a power of two until its 1-norm is small, the exponential of that is a Taylor
polynomial of degree 16 in six products, and each halving is undone by a squaring. How many there
are depends on the values: all 16 are computed, and those that a matrix has no need of dropped.
"""

from __future__ import annotations

import math

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._matrices import MATMUL, check_square, identity
from op_registry.reference.kernels._numeric import computed_in

_TERMS = 16
_SQUARINGS = 16
_SMALL = {torch.float32: 2.2, torch.complex64: 2.2, torch.float64: 0.64, torch.complex128: 0.64}
"""Norms up to which the polynomial is exact to the dtype's rounding: table 3.1 of the source, which
has degree 15."""


def without_infinity(result: torch.Tensor, self: torch.Tensor) -> torch.Tensor:
    """Return ``result`` with NaN for what overflowed: eager's float16 then gives inf or NaN."""
    del self
    return torch.where(result.isfinite(), result, torch.nan)


@kernel(
    "aten.linalg_matrix_exp.default",
    "aten.matrix_exp.default",
    source="scaling and squaring; norms from Al-Mohy & Higham (2011)",
    accuracy=f"rounding of products, doubled by each squaring; {MATMUL}; NaN for 1-norms above "
    "140,000 (f32) or 41,000 (f64)",
    canonical=without_infinity,
    tolerance=10,
    nonfinite="eager scales by the norm, which is then NaN or infinite: what comes out depends on "
    "the size of the matrix; here it is NaN",
)
def matrix_exp(self: torch.Tensor) -> torch.Tensor:
    """Return the exponentials of (..., n, n) ``self``; differentiable through its products."""
    check_square("linalg.matrix_exp", self)
    if not (self.is_floating_point() or self.is_complex()):
        raise RuntimeError(f"linalg.matrix_exp: Expected a floating point tensor, got {self.dtype}")
    if 0 in self.shape:
        return self.clone()
    matrix = self.to(computed_in(self.dtype))
    norm = matrix.detach().abs().sum(-2).amax(-1)[..., None, None]
    halvings = (norm / _SMALL[matrix.dtype]).log2().ceil().clamp(min=0)
    result = _polynomial(matrix * torch.exp2(-halvings))
    for done in range(_SQUARINGS):
        result = torch.where(done < halvings, result @ result, result)
    return torch.where(halvings <= _SQUARINGS, result, torch.nan).to(self.dtype)


def _polynomial(matrix: torch.Tensor) -> torch.Tensor:
    """Return the Taylor polynomial of exp, by Paterson and Stockmeyer in blocks of four powers."""
    square = matrix @ matrix
    powers = [identity(matrix), matrix, square, square @ matrix]
    fourth = square @ square
    total = fourth / math.factorial(_TERMS)
    for start in range(_TERMS - 4, -1, -4):
        for place, power in enumerate(powers):
            total = total + power / math.factorial(start + place)
        if start:
            total = total @ fourth
    return total
