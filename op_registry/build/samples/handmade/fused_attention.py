"""Samples of CUDA's and the CPU's fused attention ops and of their backward."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_CASES = tuple(itertools.product((5, 9), (False, True), (None, 0.3)))
"""Keys, causal, scale."""
_CUDAS = (torch.float32, torch.bfloat16, torch.float16)
"""Dtypes that CUDA's kernels take."""
_BATCH, _HEADS, _ROWS, _WIDTH = 2, 3, 5, 8


def _triple(dtype: torch.dtype, keys: int) -> list[torch.Tensor]:
    lengths = (_ROWS, keys, keys)
    return [torch.randn(_BATCH, _HEADS, n, _WIDTH).to(dtype) for n in lengths]


def _forward(
    triple: list[torch.Tensor],
    *,
    causal: bool,
    scale: float | None,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return attention and log-sum-exp, which half precision does not make inconsistent."""
    dtype = triple[0].dtype
    wide = torch.float64 if dtype is torch.float64 else torch.float32
    out, logsumexp = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        *(tensor.to(wide) for tensor in triple),
        is_causal=causal,
        attn_mask=None if mask is None else mask.to(wide),
        scale=scale,
    )
    return out.to(dtype), logsumexp


@handmade(
    "aten._scaled_dot_product_flash_attention.default",
    "aten._scaled_dot_product_flash_attention_for_cpu.default",
)
def flash(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield calls with as many keys as queries and with more, causal or not, scaled."""
    if dtype.is_floating_point:
        for keys, causal, scale in _CASES:
            yield call(*_triple(dtype, keys), 0.0, causal, scale=scale)


@handmade("aten._scaled_dot_product_flash_attention_for_cpu_backward.default")
def flash_for_cpu_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the same calls, and of one with a mask."""
    if not dtype.is_floating_point:
        return
    for keys, causal, scale in _CASES:
        triple = _triple(dtype, keys)
        found = _forward(triple, causal=causal, scale=scale)
        yield call(torch.randn_like(found[0]), *triple, *found, 0.0, causal, scale=scale)
    triple, mask = _triple(dtype, 9), torch.randn(_ROWS, 9).to(dtype)
    found = _forward(triple, causal=False, scale=None, mask=mask)
    yield call(torch.randn_like(found[0]), *triple, *found, 0.0, causal, attn_mask=mask)


@handmade("aten._scaled_dot_product_flash_attention_backward.default")
def flash_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the same calls."""
    if dtype not in _CUDAS:
        return
    for keys, causal, scale in _CASES:
        triple = _triple(dtype, keys)
        found = _forward(triple, causal=causal, scale=scale)
        state = (torch.zeros(2, dtype=torch.int64), torch.zeros((), dtype=torch.int64))
        rest = (None, None, _ROWS, keys, 0.0, causal, *state)
        yield call(torch.randn_like(found[0]), *triple, *found, *rest, scale=scale)


@handmade("aten._scaled_dot_product_efficient_attention.default")
def efficient(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield calls with a bias and without."""
    if dtype not in _CUDAS:
        return
    for (keys, causal, scale), biased in itertools.product(_CASES, (False, True)):
        bias = torch.randn(_BATCH, _HEADS, _ROWS, keys).to(dtype) if biased else None
        wanted = True
        yield call(*_triple(dtype, keys), bias, wanted, 0.0, causal, scale=scale)


@handmade("aten._scaled_dot_product_efficient_attention_backward.default")
def efficient_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the same calls, that of a broadcast bias among them."""
    if dtype not in _CUDAS:
        return
    state = (torch.zeros((), dtype=torch.int64), torch.zeros((), dtype=torch.int64))
    for (keys, causal, scale), biased in itertools.product(_CASES, (False, True)):
        triple = _triple(dtype, keys)
        bias = torch.randn(_BATCH, 1, _ROWS, keys).to(dtype) if biased else None
        out, rows = _forward(triple, causal=causal, scale=scale, mask=bias)
        given = (torch.randn_like(out), *triple, bias, out, rows, *state, 0.0)
        # Half precision rounds the output, from which the gradient of a bias is far then.
        asked = [True, True, not biased, biased and dtype is torch.float32]
        yield call(*given, asked, causal, scale=scale)
