"""Grouped products of 8-bit floats with a scale a row: ``_scaled_grouped_mm_v2``.

An 8-bit float is exact in bfloat16, so that the backend's own grouped product is the product,
before any scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ROW_WISE = 1
"""``torch.nn.functional.ScalingType.RowWise``."""


def _by_group(
    self: torch.Tensor,
    mat2: torch.Tensor,
    scale_a: Sequence[torch.Tensor],
    recipe_a: Sequence[int],
    swizzle_a: Sequence[int],
    scale_b: Sequence[torch.Tensor],
    *others: object,
    offs: torch.Tensor | None = None,
    **kwargs: object,
) -> torch.Tensor:
    """Multiply group by group, in float64, then scale."""
    del recipe_a, swizzle_a, others, kwargs
    a, b, (one,), (other,) = self.double(), mat2.double(), scale_a, scale_b
    if offs is None:
        return (a @ b * one.unsqueeze(2) * other.unsqueeze(1)).bfloat16()
    parts = []
    for group, rows in enumerate(_slices(offs)):
        left, right = (
            a[group] if a.dim() == 3 else a[:, rows] if b.dim() == 2 else a[rows],
            b[group] if b.dim() == 3 else b[:, rows] if a.dim() == 3 else b[rows],
        )
        if a.dim() == b.dim() == 2:
            scales = one.reshape(len(offs), -1)[group], other.reshape(len(offs), -1)[group]
        else:
            scales = (
                one[group] if a.dim() == 3 else one[rows],
                other[group] if b.dim() == 3 else other[rows],
            )
        parts.append(left @ right * scales[0].unsqueeze(1) * scales[1])
    if a.dim() == b.dim() == 2:
        return torch.stack(parts).bfloat16()
    return torch.cat(parts, 1 if a.dim() == 3 else 0).bfloat16()


def _slices(offs: torch.Tensor) -> Iterator[slice]:
    start = 0
    for end in offs.tolist():
        yield slice(start, end)
        start = end


@kernel(
    "aten._scaled_grouped_mm_v2.default",
    source="definition; torch's ScaledGroupedMM.cu",
    accuracy="rounding to bfloat16 before and after the scales are applied",
    expected=torch.no_grad()(_by_group),
)
def scaled_grouped_mm_v2(
    self: torch.Tensor,
    mat2: torch.Tensor,
    scale_a: Sequence[torch.Tensor],
    recipe_a: Sequence[int],
    swizzle_a: Sequence[int],
    scale_b: Sequence[torch.Tensor],
    recipe_b: Sequence[int],
    swizzle_b: Sequence[int],
    offs: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    contraction_dim: Sequence[int] = (),
    use_fast_accum: bool = False,
) -> torch.Tensor:
    """Return the products of groups of rows or columns, which ``offs`` (groups) end, as bfloat16.

    ``self`` and ``mat2`` are matrices or one a group: (m, k) by (g, k, n) gives (m, n) and groups
    rows; (m, k) by (k, n) gives (g, m, n) and groups k; (g, m, k) by (k, n) gives (m, n) and groups
    columns; (g, m, k) by (g, k, n) gives (g, m, n) without ``offs``. Scales multiply the rows of
    ``self`` and the columns of ``mat2``, in each group those of its own where k is grouped. Other
    recipes than one scale a row are not there.
    """
    del swizzle_a, swizzle_b, contraction_dim, use_fast_accum
    if list(recipe_a) != [_ROW_WISE] or list(recipe_b) != [_ROW_WISE]:
        raise NotImplementedError(
            f"_scaled_grouped_mm_v2: only row-wise scales ([{_ROW_WISE}]) are supported, got "
            f"{list(recipe_a)} and {list(recipe_b)}"
        )
    if bias is not None or out_dtype not in {None, torch.bfloat16}:
        raise RuntimeError("_scaled_grouped_mm_v2: Only bf16 output without bias is supported")
    product = torch._grouped_mm(self.bfloat16(), mat2.bfloat16(), offs=offs)
    of_rows, of_columns = _scales(self, mat2, scale_a[0], scale_b[0], offs)
    return (product.float() * of_rows * of_columns).to(torch.bfloat16)


def _scales(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    offs: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what the rows and the columns of the product are to be multiplied by."""
    if a.dim() == b.dim() == 3:
        return scale_a.unsqueeze(2), scale_b.unsqueeze(1)
    if offs is None:
        raise RuntimeError("_scaled_grouped_mm_v2: offs are needed where an operand is a matrix")
    groups = offs.shape[0]
    if a.dim() == b.dim() == 2:
        return scale_a.reshape(groups, -1, 1), scale_b.reshape(groups, 1, -1)
    if a.dim() == 2:
        return scale_a.unsqueeze(1), scale_b[_group_of(a.shape[0], offs)]
    return scale_a[_group_of(b.shape[1], offs)].t(), scale_b


def _group_of(count: int, offs: torch.Tensor) -> torch.Tensor:
    """Return the group (count) that each row is in; the last for rows beyond all."""
    places = torch.arange(count, dtype=offs.dtype, device=offs.device).unsqueeze(1)
    return (places >= offs).sum(1).clamp(max=offs.shape[0] - 1)
