"""Memory-efficient attention with tokens before heads, sequences packed or not, and its backward.

Computed by definition over all pairs of tokens, those of different sequences masked.
"""

from __future__ import annotations

import math

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _attention as attention
from op_registry.reference.kernels import _fused as fused
from op_registry.reference.kernels._packed_expected import gradients_from, sequence_by_sequence
from op_registry.reference.kernels._segments import Ends, allowed_in, segments

_NAME = "_efficient_attention_forward"
_FREE, _FROM_START, _FROM_END = 0, 1, 2
"""Values of ``custom_mask_type``: not causal, causal aligned at the start, at the end."""
Found = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, int, int]
Gradients = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None]


def _expected(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: torch.Tensor | None,
    cu_seqlens_q: torch.Tensor | None,
    cu_seqlens_k: torch.Tensor | None,
    max_seqlen_q: int | None,
    max_seqlen_k: int | None,
    dropout_p: float,
    custom_mask_type: int,
    compute_log_sumexp: bool = False,
    *,
    scale: float | None = None,
) -> Found:
    """Return attention by PyTorch's own for each sequence, by the dense formula with a bias."""
    del dropout_p
    most = (max_seqlen_q or query.shape[1], max_seqlen_k or key.shape[1])
    given, causal = (query, key, value), custom_mask_type == _FROM_END
    if cu_seqlens_q is None:
        out, sums = _dense(given, bias, custom_mask_type, scale)
        rows = list(sums)
    else:
        ends, window = (cu_seqlens_q, cu_seqlens_k), (None, None)
        flat = (query[0], key[0], value[0])
        packed, sums = sequence_by_sequence(flat, ends, window, scale, causal=causal)
        out, rows = packed.unsqueeze(0), list(sums.split(cu_seqlens_q.diff().tolist(), -1))
    pads = torch.stack([fused.filled(row, most[0]) for row in rows])
    logsumexp = pads.detach().to(attention.wide(query).dtype)
    return out, logsumexp if compute_log_sumexp else logsumexp[..., :0], *fused.state(query), *most


def _dense(
    triple: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    bias: torch.Tensor | None,
    kind: int,
    scale: float | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    q, k, v = (one.transpose(1, 2) for one in triple)
    scores = q @ k.mT * attention.factor_of(q, scale)
    scores = scores if bias is None else scores + bias
    shift = k.shape[2] - q.shape[2] if kind == _FROM_END else 0
    keep = torch.ones(scores.shape[-2:], dtype=torch.bool)
    scores = scores if kind == _FREE else scores.masked_fill(~keep.tril(shift), -math.inf)
    return (scores.softmax(-1) @ v).transpose(1, 2), attention.wide(scores.logsumexp(-1))


@kernel(
    "aten._efficient_attention_forward.default",
    source=attention.SOURCE,
    accuracy=attention.ACCURACY,
    nonfinite=attention.NONFINITE,
    expected=_expected,
)
def efficient_attention_packed(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: torch.Tensor | None,
    cu_seqlens_q: torch.Tensor | None,
    cu_seqlens_k: torch.Tensor | None,
    max_seqlen_q: int | None,
    max_seqlen_k: int | None,
    dropout_p: float,
    custom_mask_type: int,
    compute_log_sumexp: bool = False,
    *,
    scale: float | None = None,
    seqlen_k: torch.Tensor | None = None,
    window_size: int | None = None,
) -> Found:
    """Return attention (B, L, H, F), log-sum-exp, the generator's state, and the longest lengths.

    ``query`` is (B, L, H, E), ``key`` (B, S, H, E), ``value`` (B, S, H, F), ``bias`` fits
    (B, H, L, S); with cumulative lengths (N+1) B is 1. The log-sum-exp (B or N, H, longest L) is
    filled up with infinity to a multiple of 32, or empty if not asked for. Raises RuntimeError for
    dropout, windows and lengths of keys without those of queries.
    """
    if seqlen_k is not None or window_size is not None:
        raise RuntimeError(f"{_NAME}: seqlen_k and window_size are not supported; pass a bias")
    q, k, v = (one.transpose(1, 2) for one in (query, key, value))
    attention.check(_NAME, q, k, v, dropout=dropout_p)
    ends = (cu_seqlens_q, cu_seqlens_k)
    scores = _bias(q, k, bias, ends, custom_mask_type)
    out, logsumexp = attention.attend(q, k, v, scores, scale, causal=False)
    longest = max_seqlen_q if cu_seqlens_q is not None and max_seqlen_q else query.shape[1]
    rows = _rows(logsumexp, cu_seqlens_q, longest)
    rows = rows if compute_log_sumexp else rows[..., :0]
    most = (longest, key.shape[1] if max_seqlen_k is None else max_seqlen_k)
    return out.transpose(1, 2), rows, *fused.state(query), *most


def _bias(
    query: torch.Tensor, key: torch.Tensor, bias: torch.Tensor | None, ends: Ends, kind: int
) -> torch.Tensor | None:
    """Return what is added to the scores, -inf where a query must not look; None for nothing."""
    if kind not in (_FREE, _FROM_START, _FROM_END):
        raise RuntimeError(f"{_NAME}: custom_mask_type is 0, 1 or 2, not {kind}")
    if kind == _FREE and ends == (None, None):
        return bias
    right = None if kind == _FREE else 0
    keep = allowed_in(query, key, ends, left=None, right=right, last=kind == _FROM_END)
    return keep if bias is None else torch.where(keep, attention.wide(bias), -math.inf)


def _rows(logsumexp: torch.Tensor, ends: torch.Tensor | None, longest: int) -> torch.Tensor:
    """Return (B, H, L) ``logsumexp`` by sequence, filled up with infinity."""
    if ends is None:
        return fused.filled(logsumexp, longest)
    starts, tokens = ends.to(torch.int64), logsumexp.shape[-1]
    places = torch.arange(fused.filled_length(longest), device=ends.device)
    token = starts[:-1].unsqueeze(1) + places
    found = logsumexp[0][:, token.clamp(max=tokens - 1)].transpose(0, 1)
    return torch.where((token < starts[1:].unsqueeze(1)).unsqueeze(1), found, math.inf)


def _by_token(rows: torch.Tensor, ends: torch.Tensor | None, tokens: int) -> torch.Tensor:
    """Return log-sum-exp of :func:`_rows` as (B, H, tokens) again."""
    if ends is None:
        return rows[..., :tokens]
    where = segments(tokens, ends, rows.device)
    sequence = where.sequence.clamp(max=rows.shape[0] - 1)
    return rows[sequence, :, where.place.clamp(max=rows.shape[2] - 1)].mT.unsqueeze(0)


def _backward_expected(
    grad_out_: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: torch.Tensor | None,
    out: torch.Tensor,
    cu_seqlens_q: torch.Tensor | None,
    cu_seqlens_k: torch.Tensor | None,
    max_seqlen_q: int,
    max_seqlen_k: int,
    logsumexp: torch.Tensor,
    dropout_p: float,
    philox_seed: torch.Tensor,
    philox_offset: torch.Tensor,
    custom_mask_type: int,
    bias_requires_grad: bool,
    *,
    scale: float | None = None,
) -> Gradients:
    del max_seqlen_q, max_seqlen_k, logsumexp, dropout_p, philox_seed, philox_offset
    given = (query, key, value)
    q, k, v = (attention.wide(one).detach().requires_grad_() for one in given)
    of_bias = None if bias is None else attention.wide(bias).detach().requires_grad_()
    with torch.enable_grad():
        if cu_seqlens_q is None:
            made = _dense((q, k, v), of_bias, custom_mask_type, scale)
        else:
            ends, causal = (cu_seqlens_q, cu_seqlens_k), custom_mask_type == _FROM_END
            flat = (q[0], k[0], v[0])
            packed = sequence_by_sequence(flat, ends, (None, None), scale, causal=causal)
            made = (packed[0].unsqueeze(0), packed[1].unsqueeze(0))
    wanted = [q, k, v, *([] if of_bias is None or not bias_requires_grad else [of_bias])]
    grads = gradients_from(grad_out_, out, made, wanted)
    made_q, made_k, made_v = (g.to(one.dtype) for g, one in zip(grads, given, strict=False))
    last = grads[3].to(bias.dtype) if bias is not None and bias_requires_grad else None
    return made_q, made_k, made_v, last


@kernel(
    "aten._efficient_attention_backward.default",
    source=attention.SOURCE,
    accuracy=attention.ACCURACY,
    nonfinite=attention.NONFINITE,
    expected=_backward_expected,
)
def efficient_attention_packed_backward(
    grad_out_: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: torch.Tensor | None,
    out: torch.Tensor,
    cu_seqlens_q: torch.Tensor | None,
    cu_seqlens_k: torch.Tensor | None,
    max_seqlen_q: int,
    max_seqlen_k: int,
    logsumexp: torch.Tensor,
    dropout_p: float,
    philox_seed: torch.Tensor,
    philox_offset: torch.Tensor,
    custom_mask_type: int,
    bias_requires_grad: bool,
    *,
    scale: float | None = None,
    num_splits_key: int | None = None,
    window_size: int | None = None,
    shared_storage_dqdkdv: bool = False,
) -> Gradients:
    """Return the gradients of ``query``, ``key``, ``value`` and ``bias``, shaped like them.

    That of ``bias`` is None if not asked for. The weights are computed again from the scores and
    ``logsumexp``, shaped as the forward's; if that is empty, from the scores alone. The gradients
    share no storage, whatever is asked.
    """
    del max_seqlen_q, max_seqlen_k, philox_seed, philox_offset
    del num_splits_key, shared_storage_dqdkdv
    if window_size is not None:
        raise RuntimeError(f"{_NAME}: window_size is not supported; pass a bias")
    q, k, v, grad, result = (one.transpose(1, 2) for one in (query, key, value, grad_out_, out))
    attention.check(_NAME, q, k, v, dropout=dropout_p)
    scores = _bias(q, k, bias, (cu_seqlens_q, cu_seqlens_k), custom_mask_type)
    if logsumexp.shape[-1]:
        rows = _by_token(logsumexp, cu_seqlens_q, query.shape[1])
    else:  # the forward was not asked for it
        rows = attention.attend(q, k, v, scores, scale, causal=False)[1]
    found = attention.gradients(grad, q, k, v, scores, result, rows, scale, causal=False)
    of_q, of_k, of_v = (one.transpose(1, 2) for one in found[:3])
    if bias is None or not bias_requires_grad:
        return of_q, of_k, of_v, None
    return of_q, of_k, of_v, found[3].sum_to_size(bias.shape).to(bias.dtype)
