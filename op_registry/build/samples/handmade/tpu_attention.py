"""Samples of the fused attention ops that TPUs have, and of their backward."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_CASES = tuple(itertools.product((3, 1), (5, 9), (False, True), (None, 0.3), (False, True)))
"""Heads of keys and values, their length, causal, scale, biased."""
_DTYPES = (torch.float32, torch.bfloat16)
_BATCH, _HEADS, _ROWS, _WIDTH = 2, 3, 5, 8


def _given(dtype: torch.dtype, heads: int, keys: int) -> list[torch.Tensor]:
    shapes = [(_HEADS, _ROWS), (heads, keys), (heads, keys)]
    return [torch.randn(_BATCH, h, n, _WIDTH).to(dtype) for h, n in shapes]


def _bias(dtype: torch.dtype, keys: int, *, biased: bool) -> torch.Tensor | None:
    return torch.randn(_BATCH, _HEADS, _ROWS, keys).to(dtype) if biased else None


def _cases() -> Iterator[tuple[int, int, bool, float | None, bool]]:
    """Yield the cases that make sense: a causal mask and a bias exclude each other."""
    return (case for case in _CASES if not (case[2] and case[4]))


@handmade("aten._scaled_dot_product_cudnn_attention.default")
def cudnn(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield calls with shared heads of keys, a bias, a causal mask, a scale."""
    for heads, keys, causal, scale, biased in _cases() if dtype in _DTYPES else ():
        bias, wanted = _bias(dtype, keys, biased=biased), True
        yield call(*_given(dtype, heads, keys), bias, wanted, 0.0, causal, scale=scale)


@handmade("aten._scaled_dot_product_fused_attention_overrideable.default")
def overrideable(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same calls."""
    for heads, keys, causal, scale, biased in _cases() if dtype in _DTYPES else ():
        bias = _bias(dtype, keys, biased=biased)
        yield call(*_given(dtype, heads, keys), bias, 0.0, causal, scale=scale)


def _forward(
    given: list[torch.Tensor], bias: torch.Tensor | None, scale: float | None, *, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return attention and log-sum-exp in the dtype's own precision and in float32."""
    query, key, value = (one.float() for one in given)
    key, value = (one.expand(-1, _HEADS, -1, -1).contiguous() for one in (key, value))
    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    mask = None if bias is None else bias.float()
    out, rows = flash(query, key, value, is_causal=causal, attn_mask=mask, scale=scale)
    return out.to(given[0].dtype), rows


def _state() -> tuple[torch.Tensor, torch.Tensor]:
    zeros = torch.zeros((), dtype=torch.int64)
    return zeros, zeros.clone()


@handmade("aten._scaled_dot_product_cudnn_attention_backward.default")
def cudnn_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the calls."""
    for heads, keys, causal, scale, biased in _cases() if dtype in _DTYPES else ():
        given, bias = _given(dtype, heads, keys), _bias(dtype, keys, biased=biased)
        out, rows = _forward(given, bias, scale, causal=causal)
        rest = (*_state(), bias, None, None, _ROWS, keys, 0.0, causal)
        yield call(torch.randn_like(out), *given, out, rows.unsqueeze(-1), *rest, scale=scale)


@handmade("aten._scaled_dot_product_fused_attention_overrideable_backward.default")
def overrideable_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the calls, that of the bias in float32 alone: the output is rounded."""
    for heads, keys, causal, scale, biased in _cases() if dtype in _DTYPES else ():
        given, bias = _given(dtype, heads, keys), _bias(dtype, keys, biased=biased)
        out, rows = _forward(given, bias, scale, causal=causal)
        asked = [True, True, True, biased and dtype is torch.float32]
        rest = (None, None, _ROWS, keys, 0.0, causal, *_state())
        yield call(torch.randn_like(out), *given, bias, asked, out, rows, *rest, scale=scale)
