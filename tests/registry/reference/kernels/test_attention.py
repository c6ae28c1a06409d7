"""Fused attention at its edges: rows without a key, dropout, the shape of the log-sum-exp."""

from __future__ import annotations

import math

import pytest
import torch

from op_registry.reference.kernels.efficient_attention import efficient_attention
from op_registry.reference.kernels.flash_attention import flash_attention
from op_registry.reference.kernels.flash_attention_cpu import flash_attention_for_cpu

QUERY, KEY, VALUE = torch.randn(3, 2, 3, 5, 8, generator=torch.Generator().manual_seed(0))


def test_a_row_without_a_key_is_zero() -> None:
    """A query that the mask leaves no key gives zeros, and 0 as log-sum-exp, as eager has it."""
    mask = torch.zeros(5, 5)
    mask[1] = -math.inf
    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    found = flash_attention_for_cpu(QUERY, KEY, VALUE, attn_mask=mask)
    assert found[0][:, :, 1].eq(0).all()
    torch.testing.assert_close(found, flash(QUERY, KEY, VALUE, attn_mask=mask))


def test_dropout_is_refused() -> None:
    """The backward could not drop the same weights: the error names the op that can drop."""
    with pytest.raises(RuntimeError, match="use scaled_dot_product_attention"):
        flash_attention(QUERY, KEY, VALUE, dropout_p=0.1)


def test_the_sums_are_filled_up_or_left_out() -> None:
    """CUDA's kernel aligns the rows of the log-sum-exp to 32, and returns none unasked."""
    given = (QUERY, KEY, VALUE, None)
    asked = efficient_attention(*given, compute_log_sumexp=True)[1]
    unasked = efficient_attention(*given, compute_log_sumexp=False)[1]
    assert asked.shape == (2, 3, 32)
    assert asked[..., 5:].isinf().all()
    assert unasked.shape == (2, 3, 0)


def test_heads_of_other_width_are_refused() -> None:
    """Queries and keys are compared element by element."""
    with pytest.raises(RuntimeError, match="same head size"):
        flash_attention(QUERY[..., :4], KEY, VALUE)
