"""The fused attention ops that a TPU has, by definition, with their backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _attention as attention
from op_registry.reference.kernels._fused import gathered, repeated, state

if TYPE_CHECKING:
    from collections.abc import Sequence

Found = tuple[
    torch.Tensor, torch.Tensor, None, None, int, int, torch.Tensor, torch.Tensor, torch.Tensor
]
_ROUNDED = f"{attention.ACCURACY}; it starts from the output, which is rounded to its dtype"
Gradients = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def _math(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: torch.Tensor | None,
    is_causal: bool,
    scale: float | None,
) -> torch.Tensor:
    """Return what PyTorch's own composite of attention gives, in f32 or f64."""
    given = [attention.wide(one) for one in (query, repeated(query, key), repeated(query, value))]
    if bias is not None and bias.dtype is not torch.bool:
        bias = attention.wide(bias)
    own = torch.ops.aten._scaled_dot_product_attention_math
    out: torch.Tensor = own(*given, bias, 0.0, is_causal, scale=scale)[0]
    return out.to(query.dtype)


def _rest(query: torch.Tensor, key: torch.Tensor) -> tuple[None, None, int, int, *Gradients]:
    """Return lengths, and what only dropout and its debugging need: zeros and an empty mask."""
    lengths = (query.shape[2], key.shape[2])
    return (None, None, *lengths, *state(query), query.new_zeros(0))


def _logsumexp(
    query: torch.Tensor,
    key: torch.Tensor,
    bias: torch.Tensor | None,
    is_causal: bool,
    scale: float | None,
) -> torch.Tensor:
    """Return the scores' log-sum-exp, computed apart from the output."""
    ones = attention.wide(repeated(query, key))
    scores = attention.wide(query) @ ones.mT * attention.factor_of(query, scale)
    if bias is not None:
        no = torch.tensor(-torch.inf)
        scores = torch.where(bias, scores, no) if bias.dtype is torch.bool else scores + bias
    if is_causal:
        allowed = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~allowed, -torch.inf)
    return scores.logsumexp(-1).float()


def _expected(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> Found:
    del dropout_p, return_debug_mask
    out = _math(query, key, value, attn_bias, is_causal, scale)
    rows = _logsumexp(query, key, attn_bias, is_causal, scale)
    return (out, rows, *_rest(query, key))


@kernel(
    "aten._scaled_dot_product_fused_attention_overrideable.default",
    source=attention.SOURCE,
    accuracy=attention.ACCURACY,
    nonfinite=attention.NONFINITE,
    expected=_expected,
)
def fused_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> Found:
    """Return attention (B, H, L, F), log-sum-exp (B, H, L), and what a backward needs besides.

    ``query`` is (B, H, L, E), ``key`` (B, G, S, E), ``value`` (B, G, S, F), where G divides H.
    """
    del return_debug_mask
    attention.check("fused attention", query, key, value, dropout=dropout_p)
    keys, values = repeated(query, key), repeated(query, value)
    out, rows = attention.attend(query, keys, values, attn_bias, scale, causal=is_causal)
    return (out, rows.float(), *_rest(query, key))


def _cudnn_expected(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | None,
    compute_log_sumexp: bool,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> Found:
    del compute_log_sumexp
    given = (query, key, value, attn_bias, dropout_p, is_causal, return_debug_mask)
    found = _expected(*given, scale=scale)
    return (found[0], found[1].unsqueeze(-1), *found[2:])


@kernel(
    "aten._scaled_dot_product_cudnn_attention.default",
    source=attention.SOURCE,
    accuracy=attention.ACCURACY,
    nonfinite=attention.NONFINITE,
    expected=_cudnn_expected,
)
def cudnn_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | None,
    compute_log_sumexp: bool,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> Found:
    """Return what ``fused_attention`` does, the log-sum-exp as (B, H, L, 1), asked for or not."""
    del compute_log_sumexp
    given = (query, key, value, attn_bias, dropout_p, is_causal, return_debug_mask)
    found = fused_attention(*given, scale=scale)
    return (found[0], found[1].unsqueeze(-1), *found[2:])


def _differentiated(
    grad_out: torch.Tensor,
    triple: Sequence[torch.Tensor],
    bias: torch.Tensor | None,
    is_causal: bool,
    scale: float | None,
) -> list[torch.Tensor]:
    """Return the gradients of query, key, value and bias that autograd finds."""
    leaves = [attention.wide(one.detach()) for one in triple]
    if bias is not None and bias.dtype is not torch.bool:
        leaves.append(attention.wide(bias.detach()))
    with torch.enable_grad():
        for leaf in leaves:
            leaf.requires_grad_()
        used = leaves[3] if len(leaves) > len(triple) else bias
        query, key, value = leaves[:3]
        out = _math(query, key, value, used, is_causal, scale)
        found = torch.autograd.grad(out, leaves, attention.wide(grad_out))
    dtypes = [*(one.dtype for one in triple), bias.dtype if bias is not None else None]
    return [one.to(dtype) for one, dtype in zip(found, dtypes, strict=False)]


def _cudnn_backward_expected(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    philox_seed: torch.Tensor,
    philox_offset: torch.Tensor,
    attn_bias: torch.Tensor | None,
    cum_seq_q: torch.Tensor | None,
    cum_seq_k: torch.Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    *,
    scale: float | None = None,
) -> Gradients:
    del out, logsumexp, philox_seed, philox_offset, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p
    found = _differentiated(grad_out, (query, key, value), attn_bias, is_causal, scale)
    return found[0], found[1], found[2]


@kernel(
    "aten._scaled_dot_product_cudnn_attention_backward.default",
    source=attention.SOURCE,
    accuracy=_ROUNDED,
    tolerance=6.0,
    nonfinite=attention.NONFINITE,
    expected=_cudnn_backward_expected,
)
def cudnn_attention_backward(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    philox_seed: torch.Tensor,
    philox_offset: torch.Tensor,
    attn_bias: torch.Tensor | None,
    cum_seq_q: torch.Tensor | None,
    cum_seq_k: torch.Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    *,
    scale: float | None = None,
) -> Gradients:
    """Return the gradients of ``query``, ``key`` and ``value``, shaped as in the forward.

    ``out`` and ``logsumexp`` (B, H, L, 1) are the forward's, ``grad_out`` is the output's gradient.
    """
    del philox_seed, philox_offset, cum_seq_q, cum_seq_k, max_q, max_k
    attention.check("fused attention backward", query, key, value, dropout=dropout_p)
    keys, values = repeated(query, key), repeated(query, value)
    found = attention.gradients(
        grad_out,
        query,
        keys,
        values,
        attn_bias,
        out,
        logsumexp.squeeze(-1),
        scale,
        causal=is_causal,
    )
    return found[0], gathered(found[1], key.shape[1]), gathered(found[2], value.shape[1])


def _backward_expected(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | None,
    grad_input_mask: Sequence[bool],
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    cum_seq_q: torch.Tensor | None,
    cum_seq_k: torch.Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    philox_seed: torch.Tensor,
    philox_offset: torch.Tensor,
    *,
    scale: float | None = None,
) -> tuple[torch.Tensor | None, ...]:
    del out, logsumexp, philox_seed, philox_offset, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p
    found = _differentiated(grad_out, (query, key, value), attn_bias, is_causal, scale)
    padded = [*found, None][:4]
    return tuple(one if asked else None for one, asked in zip(padded, grad_input_mask, strict=True))


@kernel(
    "aten._scaled_dot_product_fused_attention_overrideable_backward.default",
    source=attention.SOURCE,
    accuracy=_ROUNDED,
    tolerance=6.0,
    nonfinite=attention.NONFINITE,
    expected=_backward_expected,
)
def fused_attention_backward(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | None,
    grad_input_mask: Sequence[bool],
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    cum_seq_q: torch.Tensor | None,
    cum_seq_k: torch.Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    philox_seed: torch.Tensor,
    philox_offset: torch.Tensor,
    *,
    scale: float | None = None,
) -> tuple[torch.Tensor | None, ...]:
    """Return the gradients of query, key, value and bias that ``grad_input_mask`` asks for."""
    del philox_seed, philox_offset, cum_seq_q, cum_seq_k, max_q, max_k
    attention.check("fused attention backward", query, key, value, dropout=dropout_p)
    keys, values = repeated(query, key), repeated(query, value)
    given = (grad_out, query, keys, values, attn_bias, out, logsumexp, scale)
    found = attention.gradients(*given, causal=is_causal)
    of_bias = None
    if attn_bias is not None:
        of_bias = found[3].sum_to_size(attn_bias.shape).to(attn_bias.dtype)
    shared = (gathered(found[1], key.shape[1]), gathered(found[2], value.shape[1]))
    gradients = (found[0], *shared, of_bias)
    return tuple(g if asked else None for g, asked in zip(gradients, grad_input_mask, strict=True))
