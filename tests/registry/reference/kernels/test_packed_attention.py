"""Attention over packed sequences: what it refuses, and how its public caller reaches it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn.attention.varlen import varlen_attn

from op_registry.reference.kernels._segments import allowed, segments
from op_registry.reference.kernels.efficient_attention_packed import efficient_attention_packed
from op_registry.reference.kernels.flash_attention_packed import flash_attention_packed

ENDS = torch.tensor([0, 2, 5], dtype=torch.int32)
TRIPLE = torch.randn(3, 5, 2, 8, generator=torch.Generator().manual_seed(0))
QUERY, KEY, VALUE = TRIPLE


def packed(**given: Any) -> torch.Tensor:
    """Return attention of two sequences, of two and of three tokens."""
    numbers: tuple[Any, ...] = (3, 3, given.pop("dropout_p", 0.0), False, False)
    return flash_attention_packed(QUERY, KEY, VALUE, ENDS, ENDS, *numbers, **given)[0]


def test_a_sequence_does_not_see_another() -> None:
    """Each sequence gets what it gets alone; the log-sum-exp is by head and token."""
    flash = torch.nn.functional.scaled_dot_product_attention
    alone = [
        flash(*(one.transpose(0, 1) for one in TRIPLE[:, cut])) for cut in (slice(2), slice(2, 5))
    ]
    torch.testing.assert_close(packed(), torch.cat(alone, 1).transpose(0, 1))


def test_keys_are_aligned_at_the_end_or_the_start() -> None:
    """With more keys than queries, causal attention ends at the last key or starts at the first."""
    query, key = (segments(n, None, torch.device("cpu")) for n in (2, 3))
    end = allowed(query, key, left=None, right=0)
    start = allowed(query, key, left=None, right=0, last=False)
    assert end.tolist() == [[True, True, False], [True, True, True]]
    assert start.tolist() == [[True, False, False], [True, True, False]]


def test_tokens_past_the_last_sequence_see_only_each_other() -> None:
    """Padding at the end of a packed tensor belongs to no sequence, and no sequence sees it."""
    places = segments(7, ENDS, torch.device("cpu"))
    seen = allowed(places, places, left=None, right=None)
    assert not seen[:5, 5:].any()
    assert not seen[5:, :5].any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dropout_p": 0.1}, "dropout 0.1 is not supported"),
        ({"seqused_k": torch.tensor([1, 1])}, "seqused_k is not supported"),
        ({"block_table": torch.zeros(1, 1)}, "block_table is not supported"),
    ],
)
def test_what_it_cannot_do_is_refused(given: dict[str, Any], message: str) -> None:
    """Dropout and keys held in part or in pages are errors, not other results."""
    with pytest.raises(RuntimeError, match=message):
        packed(**given)


@pytest.mark.parametrize(("keys", "values"), [(3, 3), (2, 1)])
def test_heads_that_cannot_be_shared_are_refused(keys: int, values: int) -> None:
    """Keys and values have the same number of heads, which divides that of the queries."""
    query, key, value = (torch.zeros(5, heads, 8) for heads in (4, keys, values))
    numbers: tuple[Any, ...] = (3, 3, 0.0, False, False)
    with pytest.raises(RuntimeError, match=f"{keys} heads of keys, {values} of values are not"):
        flash_attention_packed(query, key, value, ENDS, ENDS, *numbers)


def test_the_public_function_runs_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """``torch.nn.attention.varlen.varlen_attn`` calls this op with arguments that it takes."""
    seen: list[Any] = []

    def flash(*args: Any, **kwargs: Any) -> Any:
        seen.append(args)
        return flash_attention_packed(*args, **kwargs)

    monkeypatch.setattr(torch.ops.aten, "_flash_attention_forward", flash)
    found = varlen_attn(QUERY, KEY, VALUE, ENDS, ENDS, 3, 3)
    assert len(seen) == 1
    torch.testing.assert_close(found, packed())


def efficient(kind: int, **given: Any) -> tuple[Any, ...]:
    """Return memory-efficient attention of the two sequences with its log-sum-exp."""
    q, k, v = TRIPLE.unsqueeze(1)
    found: tuple[Any, ...] = efficient_attention_packed(
        *(q, k, v, None, ENDS, ENDS, 3, 3, 0.0, kind), compute_log_sumexp=True, **given
    )
    return found


def test_memory_efficient_attention_is_the_same() -> None:
    """Both ops give the same numbers; the log-sum-exp is by sequence, filled up to 32."""
    out, rows, _, _, queries, keys = efficient(0)
    torch.testing.assert_close(out[0], packed())
    assert (rows.shape, queries, keys) == ((2, 2, 32), 3, 3)
    assert rows.isfinite().sum((1, 2)).tolist() == [2 * 2, 3 * 2]


def test_memory_efficient_attention_refuses_what_it_cannot_do() -> None:
    """Windows and unknown kinds of masks are errors."""
    with pytest.raises(RuntimeError, match="window_size are not supported"):
        efficient(0, window_size=2)
    with pytest.raises(RuntimeError, match="custom_mask_type is 0, 1 or 2, not 3"):
        efficient(3)
