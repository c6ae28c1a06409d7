"""Backward of ``EmbeddingBag``: gradients of the dense weight and of the weights of samples."""

from __future__ import annotations

from typing import Any

import torch

from op_registry.reference.declare import kernel

_SOURCE = "definition, as in torch's EmbeddingBag.cpp"
_SUM, _MEAN, _MAX = range(3)


@torch.no_grad()
def _dense_expected(*args: Any) -> torch.Tensor:
    """Return eager's result, but by frequency: its CPU kernel divides by another row's count."""
    indices, rows, by_frequency, mode = args[1], args[5], args[6], args[7]
    plain = (*args[:6], False, *args[7:])
    found: torch.Tensor = torch.ops.aten._embedding_bag_dense_backward(*plain)
    if not by_frequency or mode == _MAX:
        return found
    return found / torch.bincount(indices, minlength=rows).clamp(min=1).to(found).unsqueeze(1)


@kernel(
    "aten._embedding_bag_dense_backward.default",
    source=_SOURCE,
    accuracy="rounding of f32 sums, in an order that the backend chooses; with scale_grad_by_freq "
    "as CUDA's kernel and the documentation have it, the CPU's divides by another row's count",
    samples=("nn.functional.embedding_bag",),
    expected=_dense_expected,
)
def embedding_bag_dense_backward(
    grad: torch.Tensor,
    indices: torch.Tensor,
    offset2bag: torch.Tensor,
    bag_size: torch.Tensor,
    maximum_indices: torch.Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: torch.Tensor | None,
    padding_idx: int = -1,
) -> torch.Tensor:
    """Return the gradient (``num_weights``, features) of the table, from that of the bags.

    ``grad`` is (bags, features); ``indices`` and ``offset2bag`` (samples) say which row each sample
    is and in which bag, ``bag_size`` (bags) how many count, ``maximum_indices`` (bags, features)
    which row was largest. ``mode`` is 0 for sum, 1 for mean, 2 for max. Rows are added up by one
    scatter. An empty bag, and the row ``padding_idx``, give nothing.
    """
    wide = _wide(grad)
    zeros = wide.new_zeros((num_weights, grad.shape[1]))
    if mode == _MAX:
        filled = (bag_size > 0).unsqueeze(1)
        rows = torch.where(filled, maximum_indices, 0).long()
        return zeros.scatter_add(0, rows, torch.where(filled, wide, 0.0)).to(grad.dtype)
    indices, offset2bag = indices.long(), offset2bag.long()
    scale = wide.new_ones(indices.shape)
    if mode == _MEAN:
        scale = scale / bag_size.index_select(0, offset2bag)
    if per_sample_weights is not None:
        scale = scale * _wide(per_sample_weights)
    if scale_grad_by_freq:
        counts = wide.new_zeros(num_weights).index_add(0, indices, torch.ones_like(scale))
        scale = scale / counts.index_select(0, indices)
    rows = wide.index_select(0, offset2bag) * scale.unsqueeze(1)
    rows = torch.where((indices == padding_idx).unsqueeze(1), 0.0, rows)
    return zeros.index_add(0, indices, rows).to(grad.dtype)


@kernel(
    "aten._embedding_bag_per_sample_weights_backward.default",
    source=_SOURCE,
    accuracy="rounding of f32 sums over the features",
    samples=("nn.functional.embedding_bag",),
)
def embedding_bag_per_sample_weights_backward(
    grad: torch.Tensor,
    weight: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    offset2bag: torch.Tensor,
    mode: int,
    padding_idx: int = -1,
) -> torch.Tensor:
    """Return the gradient (samples) of the samples' weights: each row times its bag's gradient.

    ``grad`` is (bags, features), ``weight`` (rows, features). ``offset2bag`` (samples) may be
    empty: it is then found from ``offsets``. Only for the sum, ``mode`` 0.
    """
    if mode != _SUM:
        raise RuntimeError(
            "embedding_bag_backward: per_sample_weights only supported for mode='sum'"
        )
    if indices.shape[0] and not offset2bag.shape[0]:
        samples = torch.arange(indices.shape[0], dtype=offsets.dtype, device=offsets.device)
        offset2bag = torch.searchsorted(offsets, samples, right=True) - 1
    gradients = _wide(grad).index_select(0, offset2bag.long())
    products = gradients * _wide(weight).index_select(0, indices.long())
    return torch.where(indices == padding_idx, 0.0, products.sum(1)).to(grad.dtype)


def _wide(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype == torch.float64 else x.float()
