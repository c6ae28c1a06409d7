"""``linalg_cross``, ``addbmm``, ``renorm`` and linear combinations: small products and norms."""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import computed_in
from op_registry.reference.kernels._outputs import put

_TINY = 1e-7
"""Added to a norm before a division: eager's own."""


@kernel(
    "aten.linalg_cross.default",
    source="definition",
    accuracy="rounding of two products and a difference",
)
def linalg_cross(self: torch.Tensor, other: torch.Tensor, *, dim: int = -1) -> torch.Tensor:
    """Return the cross product of vectors of three along ``dim``; the two broadcast."""
    if self.dim() != other.dim():
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if self.dim() == 0 or self.shape[dim] != 3 or other.shape[dim] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. "
            f"Got {self.shape} and {other.shape}"
        )
    a, b = torch.broadcast_tensors(self, other)
    forward: torch.Tensor = a.roll(-1, dim) * b.roll(-2, dim)
    return forward.sub(a.roll(-2, dim) * b.roll(-1, dim))


@kernel(
    "aten.addbmm.default",
    source="one product of the batches side by side",
    accuracy="accumulation order of sums",
)
def addbmm(
    self: torch.Tensor,
    batch1: torch.Tensor,
    batch2: torch.Tensor,
    *,
    beta: Any = 1,
    alpha: Any = 1,
) -> torch.Tensor:
    """Return ``beta * self + alpha * sum of batch1[i] @ batch2[i]``.

    ``batch1`` is (batch, rows, inner), ``batch2`` (batch, inner, columns), ``self`` broadcasts to
    (rows, columns); with ``beta`` 0 its values do not matter.
    """
    _check_batches(batch1, batch2)
    left = batch1.movedim(0, 1).reshape(batch1.shape[1], -1)
    right = batch2.reshape(-1, batch2.shape[2])
    product = _matrix_product(left, right)
    if self.dtype != product.dtype:
        raise RuntimeError(f"expected self of {product.dtype}, but got {self.dtype}")
    if not (product.is_floating_point() or product.is_complex()):
        beta, alpha = int(beta), int(alpha)  # as eager cuts them off
    product, rest = product.mul(alpha), self.expand(product.shape)
    return product if beta == 0 else product + rest.mul(beta)


@kernel("aten.addbmm_.default", source="`addbmm`", accuracy="that of `addbmm`")
def addbmm_(
    self: torch.Tensor,
    batch1: torch.Tensor,
    batch2: torch.Tensor,
    *,
    beta: Any = 1,
    alpha: Any = 1,
) -> torch.Tensor:
    """Put ``addbmm`` into ``self``, resized to (rows, columns) where it broadcasts, as eager does.

    Other in-place ops refuse such a ``self``.
    """
    return put(self, addbmm(self, batch1, batch2, beta=beta, alpha=alpha))


@kernel("aten.renorm.default", source="definition", accuracy="accumulation order of the norm")
def renorm(self: torch.Tensor, p: Any, dim: int, maxnorm: Any) -> torch.Tensor:
    """Return ``self``, each slice along ``dim`` scaled down to a p-norm of ``maxnorm`` at most."""
    if isinstance(p, complex) or p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if isinstance(maxnorm, complex) or maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if self.dim() < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {self.dim()} dimensions"
        )
    if not -self.dim() <= dim < self.dim():
        raise IndexError(f"Dimension out of range: {dim} of {self.dim()}")
    rest = [place for place in range(self.dim()) if place != dim % self.dim()]
    wide = self.to(computed_in(self.dtype))
    norm = torch.linalg.vector_norm(wide, p, rest, keepdim=True)
    return self * torch.where(norm > maxnorm, maxnorm / (norm + _TINY), 1).to(self.dtype)


@kernel(
    "aten._compute_linear_combination.default",
    source="one product of matrices",
    accuracy="accumulation order of sums",
)
def compute_linear_combination(input: torch.Tensor, coefficients: torch.Tensor) -> torch.Tensor:
    """Return sums of the slices of ``input`` (slices, ...), each row of weights giving one.

    ``coefficients`` is (sums, slices).
    """
    if input.is_complex() and not coefficients.is_complex():
        parts = compute_linear_combination(torch.view_as_real(input), coefficients)
        return torch.view_as_complex(parts)
    flat = input.reshape(input.shape[0], -1)
    return (coefficients @ flat).reshape(coefficients.shape[0], *input.shape[1:])


@kernel(
    "aten._compute_linear_combination.out",
    source="`_compute_linear_combination`, added up as eager's does",
    accuracy="that of `_compute_linear_combination`",
)
def compute_linear_combination_out(
    input: torch.Tensor, coefficients: torch.Tensor, *, out: torch.Tensor
) -> torch.Tensor:
    """Add the sums that ``_compute_linear_combination`` returns to what ``out`` holds."""
    sums = compute_linear_combination(input, coefficients)
    if not out.is_complex():
        return out.add_(sums)
    # Complex addition may multiply by one first, which makes NaN of an infinity.
    total = torch.view_as_real(out) + torch.view_as_real(sums)
    return out.copy_(torch.view_as_complex(total))


def _matrix_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    if left.is_floating_point() or left.is_complex():
        return left @ right
    # Integers have no matrix product on the TPU.
    return (left.unsqueeze(2) * right.unsqueeze(0)).sum(1, dtype=left.dtype)


def _check_batches(batch1: torch.Tensor, batch2: torch.Tensor) -> None:
    if batch1.dim() != 3 or batch2.dim() != 3:
        raise RuntimeError("batch1 and batch2 must be 3D tensors")
    if batch1.shape[0] != batch2.shape[0] or batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            "batch1 and batch2 must have same number of batches and matching inner sizes, got "
            f"{batch1.shape} and {batch2.shape}"
        )
