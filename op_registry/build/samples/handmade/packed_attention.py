"""Samples of flash attention over packed sequences and of its backward."""

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
    k, v = (one.repeat_interleave(2, 0) for one in (k, v))
    scores = q @ k.mT * (options.get("scale") or _WIDTH**-0.5)
    apart = torch.arange(k.shape[1]) - torch.arange(q.shape[1])[:, None] - k.shape[1] + q.shape[1]
    left, right = options.get("window_size_left"), options.get("window_size_right")
    right = 0 if causal else right
    if left is not None and left >= 0:
        scores = scores.masked_fill(apart < -left, -torch.inf)
    if right is not None and right >= 0:
        scores = scores.masked_fill(apart > right, -torch.inf)
    return (scores.softmax(-1) @ v).transpose(0, 1).to(triple[0].dtype), scores.logsumexp(-1)
