"""The CPU's fused attention, which programs traced on a CPU call, and its backward."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel
from op_registry.reference.kernels import _attention as attention

_NAME = "scaled_dot_product_attention_flash_attention"


@kernel(
    "aten._scaled_dot_product_flash_attention_for_cpu.default",
    source=attention.SOURCE,
    accuracy=attention.ACCURACY,
    samples=("nn.functional.scaled_dot_product_attention",),
    nonfinite=attention.NONFINITE,
)
def flash_attention_for_cpu(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: torch.Tensor | None = None,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return attention (B, H, L, E) and the log-sum-exp of its scores (B, H, L).

    ``query`` is (B, H, L, E), ``key`` and ``value`` (B, H, S, E); ``attn_mask`` is added to the
    scores. Computed by definition, in f32.
    """
    attention.check(_NAME, query, key, value, dropout=dropout_p)
    if value.shape[-1] != query.shape[-1]:
        raise RuntimeError(f"{_NAME}: Q/K/V should have the same head size")
    return attention.attend(query, key, value, attn_mask, scale, causal=is_causal)


def _backward_expected(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: torch.Tensor | None = None,
    scale: float | None = None,
) -> tuple[torch.Tensor, ...]:
    del dropout_p
    given = (grad_out, (query, key, value), out, logsumexp, attn_mask, scale)
    return tuple(attention.eager_backward(*given, causal=is_causal))


@kernel(
    "aten._scaled_dot_product_flash_attention_for_cpu_backward.default",
    source=attention.SOURCE,
    accuracy=f"{attention.ACCURACY}; eager rounds half precision within",
    samples=("nn.functional.scaled_dot_product_attention",),
    nonfinite=attention.NONFINITE,
    expected=_backward_expected,
)
def flash_attention_for_cpu_backward(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: torch.Tensor | None = None,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of ``query``, ``key`` and ``value``, shaped like them.

    The weights are computed again from the scores and ``logsumexp`` (B, H, L).
    """
    attention.check(_NAME, query, key, value, dropout=dropout_p)
    given = (grad_out, query, key, value, attn_mask, out, logsumexp, scale)
    return attention.gradients(*given, causal=is_causal)[:3]
