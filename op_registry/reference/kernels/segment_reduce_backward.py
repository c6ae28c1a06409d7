"""``_segment_reduce_backward``: the gradient of reductions over stretches of one dimension."""

from __future__ import annotations

import math
from typing import Any

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels._numeric import computed_in


@kernel(
    "aten._segment_reduce_backward.default",
    source="each element's segment by binary search, then gathers",
    accuracy="rounding; eager leaves negative gradients whole among elements that tie",
)
def segment_reduce_backward(
    grad: torch.Tensor,
    output: torch.Tensor,
    data: torch.Tensor,
    reduce: str,
    *,
    lengths: torch.Tensor | None = None,
    offsets: torch.Tensor | None = None,
    axis: int = 0,
    initial: Any = None,
) -> torch.Tensor:
    """Return the gradient of ``data`` (batches..., elements, rest...) from that of ``output``.

    ``grad`` and ``output`` have segments in place of elements, dimension ``axis``; ``lengths``
    (batches..., segments) or ``offsets``, with one more, say which elements are whose. Elements of
    no segment get zero. ``initial`` is what a product begins with.
    """
    ends = _ends(lengths, offsets)
    segment, inside = _segments(ends, data.shape[axis])
    shape = [*segment.shape, *([1] * (data.dim() - axis - 1))]
    index, inside = segment.reshape(shape).expand(data.shape), inside.reshape(shape)
    wide = computed_in(data.dtype)
    values, results, grads = data.to(wide), output.to(wide), grad.to(wide)
    pulled = grads.gather(axis, index)
    if reduce == "mean":
        sizes = ends.diff(dim=-1, prepend=torch.zeros_like(ends.narrow(-1, 0, 1)))
        share = sizes.gather(axis, segment).reshape(shape)
        pulled = pulled / share.to(wide)
    elif reduce in {"max", "min"}:
        pulled = _shared(pulled, values, results, index, axis)
    elif reduce == "prod":
        begin = 1.0 if initial is None else float(initial)
        pulled = pulled * _rest(values, results, index, axis, begin)
    elif reduce != "sum":
        raise RuntimeError(f"unsupported reduction given! {reduce}")
    return torch.where(inside, pulled, 0).to(data.dtype)


def _ends(lengths: torch.Tensor | None, offsets: torch.Tensor | None) -> torch.Tensor:
    """Return where each segment ends."""
    if offsets is not None:
        return offsets.narrow(-1, 1, offsets.shape[-1] - 1)
    if lengths is None:
        raise RuntimeError("Expected either lengths or offsets to be given")
    return lengths.cumsum(-1)


def _segments(ends: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the segment of each of ``count`` elements, and whether it has one."""
    places = torch.arange(count, dtype=ends.dtype, device=ends.device)
    places = places.expand(*ends.shape[:-1], count).contiguous()
    segment = torch.searchsorted(ends.contiguous(), places, right=True)
    return segment.clamp(max=ends.shape[-1] - 1), segment < ends.shape[-1]


def _shared(
    pulled: torch.Tensor, data: torch.Tensor, output: torch.Tensor, index: torch.Tensor, axis: int
) -> torch.Tensor:
    """Return the gradient shared among the elements that are their segment's extreme."""
    extreme = (data == output.gather(axis, index)) | data.isnan()
    count = torch.zeros_like(output).scatter_add(axis, index, extreme.to(data.dtype))
    return torch.where(extreme, pulled / count.gather(axis, index).clamp(min=1), 0)


def _rest(
    data: torch.Tensor, output: torch.Tensor, index: torch.Tensor, axis: int, initial: float
) -> torch.Tensor:
    """Return the product of each element's segment without the element."""
    zero, nan = data == 0, data.isnan()
    odd = zero | nan
    good = torch.where(odd, 1, data)
    product = torch.full_like(output, initial)
    product = product.scatter_reduce(axis, index, good, "prod").gather(axis, index)

    def others(which: torch.Tensor) -> torch.Tensor:
        marks = which.to(data.dtype)
        count = torch.zeros_like(output).scatter_add(axis, index, marks)
        return count.gather(axis, index) - marks

    product = torch.where(others(zero) > 0, 0, product)
    product = torch.where(others(nan) > 0, math.nan, product)
    return torch.where(odd, product, output.gather(axis, index) / torch.where(odd, 1, data))
