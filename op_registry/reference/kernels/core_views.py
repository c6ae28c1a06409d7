"""Views, and what is made of the memory of a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXACT = "exact: nothing is computed"


@kernel(
    "aten.select.int", source="definition: a slice of one, without its dimension", accuracy=_EXACT
)
def select(self: torch.Tensor, dim: int, index: int) -> torch.Tensor:
    """Return the slice of ``self`` at ``index`` along ``dim``, which the result lacks."""
    if self.dim() == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    size = self.shape[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} "
            f"at dimension {dim}"
        )
    start = index % size
    slice_: torch.Tensor = torch.ops.aten.slice.Tensor(self, dim, start, start + 1)
    return slice_.squeeze(dim)


@kernel(
    "aten.view_as_real.default",
    source="definition: complex numbers lie in memory as pairs",
    accuracy=_EXACT,
)
def view_as_real(self: torch.Tensor) -> torch.Tensor:
    """Return real and imaginary parts of ``self`` side by side in a new last dimension."""
    if not self.is_complex():
        raise RuntimeError("view_as_real is only supported for complex tensors")
    real = {torch.complex64: torch.float32, torch.complex128: torch.float64}[self.dtype]
    return self.unsqueeze(-1).view(real)


@kernel(
    "aten._conj.default",
    source="definition: the imaginary part with the other sign",
    accuracy=_EXACT,
    samples=("conj", "resolve_conj"),
)
def conj(self: torch.Tensor) -> torch.Tensor:
    """Return the complex conjugate of ``self``, computed where the op only marks it."""
    return torch.complex(self.real, -self.imag)


@kernel(
    "aten.copy_.default",
    source="definition: the converted, broadcast values, written into the memory of self",
    accuracy=_EXACT,
    samples=("to", "index_copy", "slice_scatter"),
)
def copy_(self: torch.Tensor, src: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """Write ``src``, broadcast and converted to the dtype of ``self``, into ``self``."""
    del non_blocking
    values = torch.ops.prims.convert_element_type(src, self.dtype).expand(self.shape)
    everywhere = torch.ones(self.shape, dtype=torch.bool, device=self.device)
    zero = torch.zeros((), dtype=self.dtype, device=self.device)
    return torch.where(everywhere, values, zero, out=self)


@kernel(
    "aten.copy.default",
    source="definition: the converted, broadcast values",
    accuracy=_EXACT,
    samples=("to", "index_copy", "slice_scatter"),
)
def copy(self: torch.Tensor, src: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """Return ``src``, broadcast to the shape and converted to the dtype of ``self``."""
    return copy_(torch.empty_like(self), src, non_blocking)


@kernel(
    "aten.zero_.default",
    source="definition: filled with zero",
    accuracy=_EXACT,
    samples=("zeros_like", "zeros", "new_zeros"),
)
def zero_(self: torch.Tensor) -> torch.Tensor:
    """Write zero into every element of ``self``."""
    return self.fill_(0)


@kernel(
    "aten.as_strided_.default",
    source="definition: other sizes, strides and offset over the same memory",
    accuracy=_EXACT,
)
def as_strided_(
    self: torch.Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> torch.Tensor:
    """Give ``self`` the sizes, strides and offset; its memory stays."""
    offset = self.storage_offset() if storage_offset is None else storage_offset
    return self.set_(self.untyped_storage(), offset, size, stride)
