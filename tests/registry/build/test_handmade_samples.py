"""Hand-made samples: each op named has some, and they are the same every time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from op_registry.build.samples.handmade.declare import handmade_samples, makers
from op_registry.build.samples.trial import outcome
from op_registry.build.table import overload_of
from op_registry.evidence import DTYPES

if TYPE_CHECKING:
    from op_registry.build.samples.sample import Sample

ON_CPU = (
    "aten._fused_adamw_.tensor_lr",
    "aten._fused_sgd_.default",
    "aten._fused_adagrad_.default",
    "aten._foreach_addcmul.Tensor",
    "aten.lstm.data",
    "aten.gru.input",
    "aten.rnn_tanh.data",
    "aten.scaled_dot_product_attention.default",
    "aten._native_batch_norm_legit.no_stats",
    "aten._jagged_to_padded_dense_forward.default",
    "aten.scatter.value_reduce",
    "aten._scaled_mm.default",
)


_ALSO = ("int8", "uint8")
"""Dtypes of quantised weights: evidence has no place of its own for them."""


def _samples(op: str) -> dict[str, tuple[Sample, ...]]:
    return {
        dtype: tuple(handmade_samples(op, getattr(torch, dtype))) for dtype in (*DTYPES, *_ALSO)
    }


def test_every_op_has_samples_at_some_dtype() -> None:
    """A maker that gives nothing would be dead."""
    aten = [op for op in makers() if op.startswith("aten.")]
    assert [op for op in aten if not any(_samples(op).values())] == []


@pytest.mark.parametrize("op", ON_CPU)
def test_the_cpu_accepts_them(op: str) -> None:
    """What eager PyTorch refuses shows nothing about a backend."""
    func = overload_of(op)
    samples = handmade_samples(op, torch.float32)
    assert samples
    assert all(outcome(func, sample)[0] for sample in samples)


def test_they_repeat() -> None:
    """Asked twice, a maker gives the same numbers."""
    first, second = (
        handmade_samples("aten.lstm.data", torch.float32)[0].tensors() for _ in range(2)
    )
    assert all(map(torch.equal, first, second))
