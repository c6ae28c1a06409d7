"""Attention by its definition, with the logarithm of the sum that a fused backward starts from."""

from __future__ import annotations

import math

import torch

ACCURACY = (
    "rounding of f32 sums; holds all scores, (B, H, L, S), where a fused kernel holds a block"
)
NONFINITE = "a NaN score makes its row NaN by definition; fused kernels give 0 or NaN for the row"
SOURCE = "Dao et al., FlashAttention (2022): forward, and backward from the log-sum-exp"


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: torch.Tensor | None,
    scale: float | None,
    *,
    causal: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return softmax(query keyᵀ scale + bias) value, and the scores' log-sum-exp in f32.

    ``query`` is (B, H, L, E), ``key`` (B, H, S, E), ``value`` (B, H, S, F), ``bias`` broadcasts to
    (B, H, L, S), or says by bools what takes part. A row that is masked whole gives 0 and 0.
    """
    scores = _scores(query, key, bias, scale, causal=causal)
    largest = scores.amax(-1, keepdim=True)
    masked = largest == -math.inf
    weights = (scores - torch.where(masked, 0.0, largest)).exp()
    total = weights.sum(-1, keepdim=True)
    output = torch.matmul(weights / torch.where(masked, 1.0, total), wide(value))
    logsumexp = torch.where(masked, 0.0, largest + total.log()).squeeze(-1)
    return output.to(query.dtype), logsumexp


def gradients(
    grad: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: torch.Tensor | None,
    output: torch.Tensor,
    logsumexp: torch.Tensor,
    scale: float | None,
    *,
    causal: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of ``query``, ``key``, ``value`` and of the scores (B, H, L, S).

    ``output`` and ``logsumexp`` (B, H, L) are the forward's, ``grad`` is that of the output.
    """
    weights = (_scores(query, key, bias, scale, causal=causal) - logsumexp.unsqueeze(-1)).exp()
    upper, factor = wide(grad), factor_of(query, scale)
    slopes = torch.matmul(upper, wide(value).mT) - (upper * wide(output)).sum(-1, keepdim=True)
    of_scores = weights * slopes
    grad_query = torch.matmul(of_scores, wide(key)) * factor
    grad_key = torch.matmul(of_scores.mT, wide(query)) * factor
    grad_value = torch.matmul(weights.mT, upper)
    found = (grad_query.to(query.dtype), grad_key.to(key.dtype), grad_value.to(value.dtype))
    return (*found, of_scores)


def factor_of(query: torch.Tensor, scale: float | None) -> float:
    """Return what scores are multiplied with: ``scale``, or 1 / sqrt of the width of a head."""
    return 1 / math.sqrt(query.shape[-1]) if scale is None else scale


def check(name: str, *tensors: torch.Tensor, dropout: float) -> None:
    """Raise RuntimeError unless query, key and value fit, and nothing is dropped."""
    query, key, value = tensors
    if any(tensor.dim() != 4 for tensor in tensors):
        raise RuntimeError(f"{name}: Accept only 4 dims inputs shape of {{B, H, T, K}}")
    if query.shape[-1] != key.shape[-1]:
        raise RuntimeError(f"{name}: Q/K should have the same head size")
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(f"{name}: expected query, key and value of one dtype")
    if dropout:
        raise RuntimeError(
            f"{name}: dropout {dropout} is not supported, since the backward could not draw the "
            "same numbers; use scaled_dot_product_attention, which drops by itself"
        )


def _scores(
    query: torch.Tensor,
    key: torch.Tensor,
    bias: torch.Tensor | None,
    scale: float | None,
    *,
    causal: bool,
) -> torch.Tensor:
    scores = torch.matmul(wide(query), wide(key).mT) * factor_of(query, scale)
    if bias is not None:
        scores = torch.where(bias, scores, -math.inf) if bias.dtype == torch.bool else scores + bias
    if causal:
        rows = torch.arange(query.shape[-2], device=query.device).unsqueeze(1)
        scores = torch.where(
            rows >= torch.arange(key.shape[-2], device=query.device), scores, -math.inf
        )
    return scores


def wide(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` in the dtype that attention computes in: f64 stays, all else is f32."""
    return x if x.dtype == torch.float64 else x.float()


def eager_backward(
    grad: torch.Tensor,
    triple: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    output: torch.Tensor,
    logsumexp: torch.Tensor,
    mask: torch.Tensor | None,
    scale: float | None,
    *,
    causal: bool,
) -> list[torch.Tensor]:
    """Return what the CPU's fused backward gives when half precision does not round within."""
    given = [wide(x) for x in (grad, *triple, output)]
    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
    bias = None if mask is None else wide(mask)
    found = flash(*given, logsumexp, 0.0, causal, attn_mask=bias, scale=scale)
    return [one.to(x.dtype) for one, x in zip(found, triple, strict=True)]
