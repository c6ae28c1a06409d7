"""CUDA's flash attention, which programs traced for CUDA call, and its backward."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _attention as attention
from op_registry.reference.kernels import _fused as fused

_NAME = "_scaled_dot_product_flash_attention"
Found = tuple[
    torch.Tensor, torch.Tensor, None, None, int, int, torch.Tensor, torch.Tensor, torch.Tensor
]


def _expected(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> Found:
    del dropout_p
    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    out, logsumexp = flash(query, key, value, is_causal=is_causal, scale=scale)
    rest = (None, None, query.shape[2], key.shape[2])
    return (out, logsumexp.detach(), *rest, *fused.flash_state(query))


@kernel(
    "aten._scaled_dot_product_flash_attention.default",
    source=attention.SOURCE,
    accuracy=attention.ACCURACY,
    nonfinite=attention.NONFINITE,
    expected=_expected,
)
def flash_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> Found:
    """Return attention (B, H, L, E), log-sum-exp (B, H, L), and what CUDA's kernel notes besides.

    ``query`` is (B, H, L, E), ``key`` and ``value`` (B, H, S, E). The state of the random generator
    is zeros, since nothing is dropped; the mask for debugging is empty. Computed by definition.
    """
    attention.check(_NAME, query, key, value, dropout=dropout_p)
    if return_debug_mask:
        raise RuntimeError(f"{_NAME}: there is no mask to debug without dropout")
    out, logsumexp = attention.attend(query, key, value, None, scale, causal=is_causal)
    return out, logsumexp, None, None, query.shape[2], key.shape[2], *fused.flash_state(query)


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
    *state: torch.Tensor,
    scale: float | None = None,
) -> tuple[torch.Tensor, ...]:
    del cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, state
    given = (grad_out, (query, key, value), out, logsumexp, None, scale)
    return tuple(attention.eager_backward(*given, causal=is_causal))


@kernel(
    "aten._scaled_dot_product_flash_attention_backward.default",
    source=attention.SOURCE,
    accuracy=attention.ACCURACY,
    nonfinite=attention.NONFINITE,
    expected=_backward_expected,
)
def flash_attention_backward(
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
    philox_seed: torch.Tensor,
    philox_offset: torch.Tensor,
    *,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of ``query``, ``key`` and ``value``, shaped like them.

    The weights are computed again from the scores and ``logsumexp`` (B, H, L).
    """
    del cum_seq_q, cum_seq_k, max_q, max_k, philox_seed, philox_offset
    attention.check(_NAME, query, key, value, dropout=dropout_p)
    given = (grad_out, query, key, value, None, out, logsumexp, scale)
    return attention.gradients(*given, causal=is_causal)[:3]
