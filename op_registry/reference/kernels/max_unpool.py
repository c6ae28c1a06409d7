"""``max_unpool2d`` and ``max_unpool3d``: maxima put back where they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _windows

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "definition, as in torch's MaxUnpooling.cpp"
_ACCURACY = (
    "exact; of two values for one place either may stay, and a place out of range is not refused, "
    "since that would need the host"
)


def _unpool(
    name: str, self: torch.Tensor, indices: torch.Tensor, output_size: Sequence[int], axes: int
) -> torch.Tensor:
    if len(output_size) != axes:
        raise RuntimeError(f"{name}: There should be exactly {axes} elements in output_size")
    if self.dim() not in (axes + 1, axes + 2) or 0 in self.shape[self.dim() - axes - 1 :]:
        raise RuntimeError(
            f"{name}: Input must be {axes + 1}D or {axes + 2}D with non-zero sizes, but got "
            f"{list(self.shape)}"
        )
    if indices.dtype != torch.int64 or indices.shape != self.shape:
        raise RuntimeError(
            f"{name}: Expected int64 indices of shape {list(self.shape)}, but got {indices.dtype} "
            f"of shape {list(indices.shape)}"
        )
    return _windows.spread(self, indices, output_size, accumulate=False)


@kernel("aten.max_unpool2d.default", source=_SOURCE, accuracy=_ACCURACY, tolerance=0)
def max_unpool2d(
    self: torch.Tensor, indices: torch.Tensor, output_size: Sequence[int]
) -> torch.Tensor:
    """Return zeros (..., *``output_size``) with ``self`` ((N,) C, H, W) scattered to ``indices``.

    ``indices`` are flat within a plane of the output.
    """
    return _unpool("max_unpool2d", self, indices, output_size, 2)


@kernel("aten.max_unpool3d.default", source=_SOURCE, accuracy=_ACCURACY, tolerance=0)
def max_unpool3d(
    self: torch.Tensor,
    indices: torch.Tensor,
    output_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
) -> torch.Tensor:
    """Return zeros (..., *``output_size``) with ``self`` ((N,) C, D, H, W) put at ``indices``.

    ``indices`` are flat within a volume of the output; ``stride`` and ``padding`` are only checked.
    """
    if len(stride) != 3 or len(padding) != 3 or min(stride) <= 0:
        raise RuntimeError(
            "max_unpool3d: stride must be 3 positive numbers and padding 3 numbers, but got "
            f"{list(stride)} and {list(padding)}"
        )
    return _unpool("max_unpool3d", self, indices, output_size, 3)
