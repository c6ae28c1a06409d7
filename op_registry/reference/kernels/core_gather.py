"""Reading and writing at indices: gather, scatter and their kin, by comparing positions.

These say what the ops mean. They compare every index with every position, so they take memory for
each pair: the TPU's own kernels are for use.
"""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel

_SOURCE = "definition: every index is compared with every position"
_EXACT = "exact: values are moved, not computed"


def _hits(index: torch.Tensor, size: int) -> torch.Tensor:
    """Return, for each element of ``index`` and each of ``size`` positions, whether they meet."""
    return index.unsqueeze(-1) == torch.arange(size, device=index.device)


def _check(self: torch.Tensor, index: torch.Tensor) -> None:
    if index.numel() and index.dtype not in {torch.int64, torch.int32}:
        raise RuntimeError("gather/scatter(): Expected dtype int32/int64 for index")
    if index.numel() and max(self.dim(), 1) != max(index.dim(), 1):
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as self tensor, but got "
            f"{index.dim()} and {self.dim()}"
        )


def pick(values: torch.Tensor, hits: torch.Tensor) -> torch.Tensor:
    """Return the sum over the last dimension of ``values`` where ``hits``; at most one hits."""
    if values.dtype is torch.bool:
        return (values & hits).any(-1)
    zero = torch.zeros((), dtype=values.dtype, device=values.device)
    return torch.where(hits, values, zero).sum(-1, dtype=values.dtype)


@kernel("aten.gather.default", source=_SOURCE, accuracy=_EXACT)
def gather(
    self: torch.Tensor, dim: int, index: torch.Tensor, *, sparse_grad: bool = False
) -> torch.Tensor:
    """Return ``self`` read along ``dim`` at ``index``, whose shape the result has.

    In the other dimensions ``index`` may be smaller than ``self``: it reads from the start.
    """
    del sparse_grad  # how the gradient is stored
    _check(self, index)
    if not index.numel():
        return self.new_empty(index.shape)
    if self.dim() == 0 or index.dim() == 0:
        return self.reshape(-1)[:1].expand(index.numel()).reshape(index.shape)
    dim %= self.dim()
    read = self
    for other, size in enumerate(index.shape):
        if other != dim:
            if size > self.shape[other]:
                raise RuntimeError(
                    f"Size does not match at dimension {other} expected index {list(index.shape)} "
                    f"to be no larger than self {list(self.shape)} apart from dimension {dim}"
                )
            read = read.narrow(other, 0, size)
    return pick(read.movedim(dim, -1).unsqueeze(dim), _hits(index, self.shape[dim]))


@kernel("aten.scatter.value", source=_SOURCE, accuracy=_EXACT)
def scatter_value(self: torch.Tensor, dim: int, index: torch.Tensor, value: Any) -> torch.Tensor:
    """Return ``self`` with ``value`` along ``dim`` at the positions in ``index``."""
    written = _written(self, dim, index)
    return torch.where(written.any(-1), torch.full_like(self, value), self)


@kernel(
    "aten.scatter.src",
    source=_SOURCE,
    accuracy="exact where positions are met once; which of several values stays is not defined",
)
def scatter_src(
    self: torch.Tensor, dim: int, index: torch.Tensor, src: torch.Tensor
) -> torch.Tensor:
    """Return ``self`` with ``src`` written along ``dim`` at ``index``: the last one stays."""
    if src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    written = _written(self, dim, index)
    order = torch.arange(written.shape[-1], device=self.device)
    last = torch.where(written, order, -1).amax(-1, keepdim=True) if written.shape[-1] else None
    if last is None:
        return self.clone()
    values = pick(_sources(self, dim, index, src), written & (order == last))
    return torch.where(written.any(-1), values, self)


@kernel(
    "aten.scatter_add.default",
    source=_SOURCE,
    accuracy="as `sum`: eager adds one after the other",
)
def scatter_add(
    self: torch.Tensor, dim: int, index: torch.Tensor, src: torch.Tensor
) -> torch.Tensor:
    """Return ``self`` plus, at each position, all elements of ``src`` whose index is there."""
    return scatter_reduce(self, dim, index, src, "sum")


@kernel(
    "aten.scatter_reduce.two",
    source=_SOURCE,
    accuracy="as the reductions: eager goes through the elements one after the other",
)
def scatter_reduce(
    self: torch.Tensor,
    dim: int,
    index: torch.Tensor,
    src: torch.Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> torch.Tensor:
    """Return at each position the reduction of the elements of ``src`` whose index is there.

    ``reduce`` is sum, prod, mean, amax or amin. The element of ``self`` takes part with
    ``include_self``, and stays where no index is.
    """
    if reduce not in _NEUTRAL:
        raise RuntimeError(f"reduce argument must be one of {', '.join(_NEUTRAL)}; got {reduce!r}")
    if src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    written = _written(self, dim, index)
    values = _sources(self, dim, index, src)
    if include_self:
        values = torch.cat([values.expand(written.shape), self.unsqueeze(-1)], -1)
        written = torch.cat([written, torch.ones_like(self, dtype=torch.bool).unsqueeze(-1)], -1)
    elif not written.shape[-1]:
        return self.clone()
    reduced = _reduced(values, written, reduce)
    return torch.where(written.any(-1), reduced, self)


@kernel(
    "aten.put.default",
    source=_SOURCE,
    accuracy="exact where positions are met once; which of several values stays is not defined",
)
def put(
    self: torch.Tensor, index: torch.Tensor, source: torch.Tensor, accumulate: bool = False
) -> torch.Tensor:
    """Return ``self`` with ``source`` written, or added, at ``index`` of its flattened form."""
    if self.dtype != source.dtype or index.dtype != torch.int64:
        raise RuntimeError("put_(): expected self and source of one dtype, and an int64 index")
    if index.numel() != source.numel():
        raise RuntimeError("put_(): Expected source and index to have the same number of elements")
    flat, places = self.reshape(-1), index.reshape(-1)
    places = torch.where(places < 0, places + flat.shape[0], places)
    write = scatter_add if accumulate else scatter_src
    return write(flat, 0, places, source.reshape(-1)).reshape(self.shape)


_NEUTRAL = ("sum", "prod", "mean", "amax", "amin")


def _reduced(values: torch.Tensor, used: torch.Tensor, reduce: str) -> torch.Tensor:
    if reduce in {"amax", "amin"}:
        return _extreme(values, used, largest=reduce == "amax")
    one = torch.full((), reduce == "prod", device=values.device).to(values.dtype)
    values = torch.where(used, values, one)
    if reduce == "prod":
        return values.prod(-1, dtype=values.dtype)
    total = values.sum(-1, dtype=values.dtype)
    if reduce == "sum":
        return total
    count = used.sum(-1).clamp_min(1)
    if values.dtype.is_floating_point or values.dtype.is_complex:
        return total / count.to(values.dtype)
    return torch.div(total, count, rounding_mode="floor").to(values.dtype)


def _extreme(values: torch.Tensor, used: torch.Tensor, *, largest: bool) -> torch.Tensor:
    if values.dtype is torch.bool:
        return (values & used).any(-1) if largest else (values | ~used).all(-1)
    if values.dtype.is_floating_point:
        worst = float("-inf") if largest else float("inf")
    else:
        limits = torch.iinfo(values.dtype)
        worst = limits.min if largest else limits.max
    kept = torch.where(used, values, torch.full((), worst, device=values.device).to(values.dtype))
    return kept.amax(-1) if largest else kept.amin(-1)


def _written(self: torch.Tensor, dim: int, index: torch.Tensor) -> torch.Tensor:
    """Return for each position of ``self`` which of the indices in its line write there.

    The last dimension counts the indices; positions that ``index`` does not reach in the other
    dimensions have none.
    """
    _check(self, index)
    if self.dim() == 0:
        return torch.ones(index.numel(), dtype=torch.bool, device=self.device)
    if index.numel() == 0:
        return torch.zeros((*self.shape, 0), dtype=torch.bool, device=self.device)
    dim %= self.dim()
    hits = _hits(index, self.shape[dim]).movedim(dim, -1).movedim(-2, dim)
    return _padded(hits, self.shape, value=False)


def _sources(self: torch.Tensor, dim: int, index: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    """Return ``src`` with the dimension of the indices last, to go with ``_written``."""
    if self.dim() == 0:
        return src.reshape(-1)[: index.numel()]
    if index.numel() == 0:
        return self.new_zeros((*self.shape, 0))
    dim %= self.dim()
    for other, size in enumerate(index.shape):
        if size > src.shape[other]:
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than src {list(src.shape)}"
            )
        src = src.narrow(other, 0, size)
    line = src.movedim(dim, -1).unsqueeze(dim)
    return _padded(line, [*self.shape[:dim], 1, *self.shape[dim + 1 :]], value=0)


def _padded(tensor: torch.Tensor, shape: Any, *, value: int) -> torch.Tensor:
    """Pad all dimensions but the last at their ends to ``shape``."""
    missing = [want - have for want, have in zip(shape, tensor.shape[:-1], strict=True)]
    if not any(missing):
        return tensor
    pads = [0, 0]
    for count in reversed(missing):
        if count < 0:
            raise RuntimeError(
                f"Expected index {list(tensor.shape[:-1])} to be no larger than self {list(shape)} "
                "apart from the dimension that is written along"
            )
        pads += [0, count]
    return torch.constant_pad_nd(tensor, pads, value)
