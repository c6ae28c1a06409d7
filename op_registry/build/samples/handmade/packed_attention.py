"""Samples of CUDA's attention ops that take packed sequences and of their backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from op_registry.build.samples.handmade.declare import call, handmade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from op_registry.build.samples.sample import Sample

_DTYPES = (torch.float32, torch.bfloat16, torch.float16)
"""Those that CUDA's kernel takes, and float32 to compare with."""
_WIDTH = 8
_PACKED = ((0, 3, 8, 9), (0, 5, 11, 13))
"""Cumulative lengths of queries and of keys: no sequence has fewer keys than queries."""
_WINDOWS = ((None, None), (-1, -1), (2, 1))
_Case = tuple[list[torch.Tensor], tuple[torch.Tensor | None, ...], tuple[Any, ...], dict[str, Any]]


def _triple(
    dtype: torch.dtype, queries: tuple[int, ...], keys: tuple[int, ...]
) -> list[torch.Tensor]:
    shapes = ((*queries, 4, _WIDTH), (*keys, 2, _WIDTH), (*keys, 2, _WIDTH))
    return [torch.randn(shape).to(dtype) for shape in shapes]


def _cases(dtype: torch.dtype) -> Iterator[_Case]:
    """Yield tensors, cumulative lengths, the numbers after these, and keyword arguments."""
    ends = tuple(torch.tensor(one, dtype=torch.int32) for one in _PACKED)
    for left, right in _WINDOWS:
        window = {"window_size_left": left, "window_size_right": right}
        yield _triple(dtype, (9,), (13,)), ends, (5, 6, 0.0, False), window
        yield _triple(dtype, (2, 5), (2, 7)), (None, None), (5, 7, 0.0, False), window
    yield _triple(dtype, (9,), (13,)), ends, (5, 6, 0.0, True), {"scale": 0.3}
    yield _triple(dtype, (2, 5), (2, 5)), (None, None), (5, 5, 0.0, True), {}


@handmade("aten._flash_attention_forward.default")
def forward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield packed and dense calls with windows, causal or not, two heads to one of the keys."""
    return_debug_mask = False
    if dtype in _DTYPES:
        for triple, ends, numbers, options in _cases(dtype):
            yield call(*triple, *ends, *numbers, return_debug_mask, **options)


@handmade("aten._flash_attention_backward.default")
def backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of the same calls."""
    if dtype not in _DTYPES:
        return
    for triple, ends, numbers, options in _cases(dtype):
        found = _attention(triple, ends, numbers[3], options)
        state = (torch.zeros(2, dtype=torch.uint64), torch.zeros((), dtype=torch.uint64))
        grad = torch.randn(triple[0].shape).to(dtype)
        yield call(grad, *triple, *found, *ends, *numbers, *state, **options)


def _attention(
    triple: list[torch.Tensor],
    ends: tuple[torch.Tensor | None, ...],
    causal: bool,
    options: dict[str, Any],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return attention and log-sum-exp, one sequence after the other."""
    if ends[0] is None or ends[1] is None:
        made = [_one(one, causal, options) for one in zip(*triple, strict=True)]
        return torch.stack([one for one, _ in made]), torch.stack([one for _, one in made])
    cuts = [one.diff().tolist() for one in (ends[0], ends[1], ends[1])]
    parts = zip(*(one.split(cut) for one, cut in zip(triple, cuts, strict=True)), strict=True)
    made = [_one(part, causal, options) for part in parts]
    return torch.cat([one for one, _ in made]), torch.cat([one for _, one in made], -1)


def _one(
    triple: tuple[torch.Tensor, ...], causal: bool, options: dict[str, Any]
) -> tuple[torch.Tensor, torch.Tensor]:
    q, k, v = (one.float().transpose(0, 1) for one in triple)
    k, v = (one.repeat_interleave(options.get("repeated", 2), 0) for one in (k, v))
    scores = q @ k.mT * (options.get("scale") or _WIDTH**-0.5)
    apart = torch.arange(k.shape[1]) - torch.arange(q.shape[1])[:, None] - k.shape[1] + q.shape[1]
    left, right = options.get("window_size_left"), options.get("window_size_right")
    right = 0 if causal else right
    if left is not None and left >= 0:
        scores = scores.masked_fill(apart < -left, -torch.inf)
    if right is not None and right >= 0:
        scores = scores.masked_fill(apart > right, -torch.inf)
    return (scores.softmax(-1) @ v).transpose(0, 1).to(triple[0].dtype), scores.logsumexp(-1)


_KINDS = (0, 1, 2)
"""Of masks: none, causal aligned at the start, at the end."""
_HEADS = 2


def _even(dtype: torch.dtype, batch: int, queries: int, keys: int) -> list[torch.Tensor]:
    lengths = (queries, keys, keys)
    return [torch.randn(batch, n, _HEADS, _WIDTH).to(dtype) for n in lengths]


@handmade("aten._efficient_attention_forward.default")
def efficient(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield dense calls with each kind of mask and a bias, and packed ones."""
    if dtype not in _DTYPES:
        return
    sums, bias = True, torch.randn(2, _HEADS, 5, 7).to(dtype)
    ends = tuple(torch.tensor(one, dtype=torch.int32) for one in _PACKED)
    for kind in _KINDS:
        triple = _even(dtype, 2, 5, 7)
        yield call(*triple, bias, None, None, None, None, 0.0, kind, sums, scale=0.3)
        yield call(*triple, None, None, None, None, None, 0.0, kind)
    for kind in (_KINDS[0], _KINDS[2]):
        yield call(*_even(dtype, 1, 9, 13), None, *ends, 5, 6, 0.0, kind, sums)


@handmade("aten._efficient_attention_backward.default")
def efficient_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of a dense call with a bias, asked for or not, and of a packed one."""
    if dtype not in _DTYPES:
        return
    state = (torch.zeros((), dtype=torch.int64), torch.zeros((), dtype=torch.int64))
    triple, bias = _even(dtype, 2, 5, 7), torch.randn(1, _HEADS, 5, 7).to(dtype)
    out, rows = _biased(triple, bias)
    for asked in (True, False):
        last = (5, 7, rows, 0.0, *state, 0, asked)
        yield call(torch.randn_like(out), *triple, bias, out, None, None, *last)
    triple = _even(dtype, 1, 9, 13)
    ends = tuple(torch.tensor(one, dtype=torch.int32) for one in _PACKED)
    causal, options = True, {"repeated": 1}
    out, sums = _attention([one[0] for one in triple], ends, causal, options)
    parts = sums.split(ends[0].diff().tolist(), -1)
    rows = torch.stack([_filled(one) for one in parts])
    last = (5, 6, rows, 0.0, *state, 2, False)
    yield call(torch.randn_like(triple[0]), *triple, None, out.unsqueeze(0), *ends, *last)


def _biased(triple: list[torch.Tensor], bias: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    q, k, v = (one.float().transpose(1, 2) for one in triple)
    scores = q @ k.mT * _WIDTH**-0.5 + bias
    out = (scores.softmax(-1) @ v).transpose(1, 2).to(triple[0].dtype)
    return out, _filled(scores.logsumexp(-1))


def _filled(rows: torch.Tensor) -> torch.Tensor:
    """Return rows of a log-sum-exp filled up to 32, as CUDA's kernel gives them."""
    return torch.nn.functional.pad(rows, (0, 32 - rows.shape[-1]), value=torch.inf)
