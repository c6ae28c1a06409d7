"""Flash attention over packed sequences, which ``torch.nn.attention.varlen`` calls, and backward.

Computed by definition over all pairs of tokens, those of different sequences masked: where a fused
kernel takes the sum of the squares of the lengths, this takes the square of their sum.
"""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _attention as attention
from op_registry.reference.kernels import _fused as fused
from op_registry.reference.kernels._packed_expected import (
    Window,
    gradients_from,
    sequence_by_sequence,
)
from op_registry.reference.kernels._segments import Ends, allowed_in

_NAME = "_flash_attention_forward"
Found = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
Gradients = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def _expected(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    cum_seq_q: torch.Tensor | None,
    cum_seq_k: torch.Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    return_debug_mask: bool,
    *,
    scale: float | None = None,
    window_size_left: int | None = None,
    window_size_right: int | None = None,
) -> Found:
    del max_q, max_k, dropout_p, return_debug_mask
    triple, ends = (query, key, value), (cum_seq_q, cum_seq_k)
    window = (window_size_left, window_size_right)
    out, logsumexp = sequence_by_sequence(triple, ends, window, scale, causal=is_causal)
    return out, logsumexp.detach(), *fused.flash_state(query)


@kernel(
    "aten._flash_attention_forward.default",
    source=attention.SOURCE,
    accuracy=attention.ACCURACY,
    nonfinite=attention.NONFINITE,
    expected=_expected,
)
def flash_attention_packed(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    cum_seq_q: torch.Tensor | None,
    cum_seq_k: torch.Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    return_debug_mask: bool,
    *,
    scale: float | None = None,
    window_size_left: int | None = None,
    window_size_right: int | None = None,
    seqused_k: torch.Tensor | None = None,
    alibi_slopes: torch.Tensor | None = None,
    block_table: torch.Tensor | None = None,
    num_splits: int | None = None,
) -> Found:
    """Return attention shaped like ``query``, its log-sum-exp, and what only dropout needs: zeros.

    Dense: ``query`` (B, L, H, E), ``key`` and ``value`` (B, S, G, E), log-sum-exp (B, H, L).
    Packed, with cumulative lengths (N+1): (T, H, E), (U, G, E), log-sum-exp (H, T). G divides H.
    Causal and windows are aligned at the end of a sequence. Raises RuntimeError for dropout and
    for keys that a cache holds in part or in pages.
    """
    del max_q, max_k, num_splits
    _refuse(seqused_k=seqused_k, alibi_slopes=alibi_slopes, block_table=block_table)
    if return_debug_mask:
        raise RuntimeError(f"{_NAME}: there is no mask to debug without dropout")
    q, k, v = _heads_first(query, key, value, cum_seq_q)
    attention.check(_NAME, q, k, v, dropout=dropout_p)
    mask = _mask(q, k, (cum_seq_q, cum_seq_k), (window_size_left, window_size_right), is_causal)
    out, logsumexp = attention.attend(q, k, v, mask, scale, causal=False)
    out = out.transpose(1, 2)
    if cum_seq_q is not None:
        out, logsumexp = out[0], logsumexp[0]
    return out, logsumexp, *fused.flash_state(query)


def _refuse(**given: torch.Tensor | None) -> None:
    for name, one in given.items():
        if one is not None:
            raise RuntimeError(f"{_NAME}: {name} is not supported; cut or gather the keys instead")


def _heads_first(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, ends: torch.Tensor | None
) -> list[torch.Tensor]:
    """Return all three as (B, H, tokens, E): packed ones as a batch of one, heads repeated."""
    wanted = 4 if ends is None else 3
    if not query.dim() == key.dim() == value.dim() == wanted:
        kind = "dense" if ends is None else "packed"
        raise RuntimeError(f"{_NAME}: {kind} query, key and value have {wanted} dimensions")
    given = (
        (query, key, value) if ends is None else (one.unsqueeze(0) for one in (query, key, value))
    )
    q, k, v = (one.transpose(1, 2) for one in given)
    if k.shape[1] != v.shape[1] or q.shape[1] % k.shape[1]:
        heads = f"{k.shape[1]} heads of keys, {v.shape[1]} of values"
        raise RuntimeError(f"{_NAME}: {heads} are not the same divisor of {q.shape[1]}")
    return [q, fused.repeated(q, k), fused.repeated(q, v)]


def _mask(
    query: torch.Tensor,
    key: torch.Tensor,
    ends: Ends,
    window: Window,
    is_causal: bool,
) -> torch.Tensor | None:
    left, right = (None if side is None or side < 0 else side for side in window)
    right = 0 if is_causal else right
    if ends == (None, None) and left is right is None:
        return None
    return allowed_in(query, key, ends, left=left, right=right)


def _backward_expected(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    cum_seq_q: torch.Tensor | None,
    cum_seq_k: torch.Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    rng_state: torch.Tensor,
    unused: torch.Tensor,
    *,
    scale: float | None = None,
    window_size_left: int | None = None,
    window_size_right: int | None = None,
) -> Gradients:
    del max_q, max_k, dropout_p, logsumexp, rng_state, unused
    given, ends = (query, key, value), (cum_seq_q, cum_seq_k)
    q, k, v = (attention.wide(one).detach().requires_grad_() for one in given)
    window = (window_size_left, window_size_right)
    with torch.enable_grad():
        made = sequence_by_sequence((q, k, v), ends, window, scale, causal=is_causal)
    grads = gradients_from(grad_out, out, made, (q, k, v))
    of_q, of_k, of_v = (grad.to(one.dtype) for grad, one in zip(grads, given, strict=True))
    return of_q, of_k, of_v


@kernel(
    "aten._flash_attention_backward.default",
    source=attention.SOURCE,
    accuracy=attention.ACCURACY,
    nonfinite=attention.NONFINITE,
    expected=_backward_expected,
)
def flash_attention_packed_backward(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    cum_seq_q: torch.Tensor | None,
    cum_seq_k: torch.Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    rng_state: torch.Tensor,
    unused: torch.Tensor,
    *,
    scale: float | None = None,
    window_size_left: int | None = None,
    window_size_right: int | None = None,
) -> Gradients:
    """Return the gradients of ``query``, ``key`` and ``value``, shaped like them.

    The weights are computed again from the scores and ``logsumexp``, shaped as the forward's.
    """
    del max_q, max_k, rng_state, unused
    q, k, v = _heads_first(query, key, value, cum_seq_q)
    attention.check(_NAME, q, k, v, dropout=dropout_p)
    mask = _mask(q, k, (cum_seq_q, cum_seq_k), (window_size_left, window_size_right), is_causal)
    if cum_seq_q is not None:
        grad_out, out, logsumexp = (one.unsqueeze(0) for one in (grad_out, out, logsumexp))
    grad, result = grad_out.transpose(1, 2), out.transpose(1, 2)
    q, k, v = (attention.wide(one) for one in (q, k, v))  # heads that share add up unrounded
    found = attention.gradients(grad, q, k, v, mask, result, logsumexp, scale, causal=False)
    of_q, of_k, of_v = (
        _back(one, like, packed=cum_seq_q is not None)
        for one, like in zip(found[:3], (query, key, value), strict=True)
    )
    return of_q, of_k, of_v


def _back(grad: torch.Tensor, like: torch.Tensor, *, packed: bool) -> torch.Tensor:
    """Return (B, H, tokens, E) ``grad`` shaped like ``like``: summed over the heads that share."""
    found = fused.gathered(grad, like.shape[-2]).transpose(1, 2).to(like.dtype)
    return found[0] if packed else found
