"""CUDA's memory-efficient attention, which programs traced for CUDA call, and its backward."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _attention as attention
from op_registry.reference.kernels import _fused as fused

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = "_scaled_dot_product_efficient_attention"
Found = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
Gradients = tuple[
    torch.Tensor | None, torch.Tensor | None, torch.Tensor | None, torch.Tensor | None
]


def _expected(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | None,
    compute_log_sumexp: bool,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> Found:
    del dropout_p
    scores = query @ key.mT * attention.factor_of(query, scale)
    scores = scores if attn_bias is None else scores + attn_bias
    if is_causal:
        allowed = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~allowed, -math.inf)
    out = scores.softmax(-1) @ value
    logsumexp = fused.filled(attention.wide(scores.detach().logsumexp(-1)), query.shape[-2])
    return out, logsumexp if compute_log_sumexp else logsumexp[..., :0], *fused.state(query)


@kernel(
    "aten._scaled_dot_product_efficient_attention.default",
    source=attention.SOURCE,
    accuracy=attention.ACCURACY,
    nonfinite=attention.NONFINITE,
    expected=_expected,
)
def efficient_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | None,
    compute_log_sumexp: bool,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> Found:
    """Return attention (B, H, L, F), log-sum-exp, and the random generator's state: zeros.

    ``query`` is (B, H, L, E), ``key`` (B, H, S, E), ``value`` (B, H, S, F), ``attn_bias`` fits
    (B, H, L, S). The log-sum-exp (B, H, L) is filled up with infinity to a multiple of 32, or
    empty if not asked for. Computed by definition.
    """
    attention.check(_NAME, query, key, value, dropout=dropout_p)
    out, logsumexp = attention.attend(query, key, value, attn_bias, scale, causal=is_causal)
    rows = fused.filled(logsumexp, query.shape[-2]) if compute_log_sumexp else logsumexp[..., :0]
    return out, rows, *fused.state(query)


def _backward_expected(
    grad_out_: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | None,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    philox_seed: torch.Tensor,
    philox_offset: torch.Tensor,
    dropout_p: float,
    grad_input_mask: Sequence[bool],
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> Gradients:
    del philox_seed, philox_offset, dropout_p
    rows = logsumexp[..., : query.shape[-2]]
    given = (grad_out_, (query, key, value), out, rows, attn_bias, scale)
    found: list[torch.Tensor | None] = [*attention.eager_backward(*given, causal=is_causal)]
    bias = None if attn_bias is None else attn_bias.detach().requires_grad_()
    if bias is not None:
        with torch.enable_grad():
            again = _expected(
                query, key, value, bias, grad_input_mask[3], 0.0, is_causal, scale=scale
            )[0]
            found += torch.autograd.grad(again, bias, grad_out_)
    masked = itertools.zip_longest(found, grad_input_mask)
    q, k, v, last = (one if asked else None for one, asked in masked)
    return q, k, v, last


@kernel(
    "aten._scaled_dot_product_efficient_attention_backward.default",
    source=attention.SOURCE,
    accuracy=attention.ACCURACY,
    nonfinite=attention.NONFINITE,
    expected=_backward_expected,
)
def efficient_attention_backward(
    grad_out_: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | None,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    philox_seed: torch.Tensor,
    philox_offset: torch.Tensor,
    dropout_p: float,
    grad_input_mask: Sequence[bool],
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> Gradients:
    """Return the gradients of ``query``, ``key``, ``value`` and ``attn_bias``, shaped like them.

    ``grad_input_mask`` says which are wanted; the others are None. The weights are computed again
    from the scores and ``logsumexp`` (B, H, at least L).
    """
    del philox_seed, philox_offset
    attention.check(_NAME, query, key, value, dropout=dropout_p)
    rows = logsumexp[..., : query.shape[-2]]
    given = (grad_out_, query, key, value, attn_bias, out, rows, scale)
    *found, of_scores = attention.gradients(*given, causal=is_causal)
    of_bias = None if attn_bias is None else of_scores.sum_to_size(attn_bias.shape)
    of_bias = None if of_bias is None or attn_bias is None else of_bias.to(attn_bias.dtype)
    q, k, v, bias = (
        one if asked else None
        for one, asked in zip((*found, of_bias), grad_input_mask, strict=True)
    )
    return q, k, v, bias
