"""Shapes of ops that torch gives no meta function: without one a fake tensor cannot pass."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

Tensor = torch.Tensor
_GRU_WORKSPACE = 5
"""What the fused cell keeps for its backward, in hidden sizes."""


def fused_gru_cell(
    input_gates: Tensor, hidden_gates: Tensor, hx: Tensor, *_biases: Any
) -> tuple[Tensor, Tensor]:
    """Return the next state, like ``hx``, and the workspace."""
    del input_gates, hidden_gates
    return torch.empty_like(hx), hx.new_empty((hx.shape[0], _GRU_WORKSPACE * hx.shape[1]))


def fused_lstm_cell(
    input_gates: Tensor, hidden_gates: Tensor, cx: Tensor, *_biases: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the next states, like ``cx``, and the workspace, like the gates."""
    del hidden_gates
    return torch.empty_like(cx), torch.empty_like(cx), torch.empty_like(input_gates)


@cache
def register() -> tuple[torch.library.Library, ...]:
    """Register the functions, once a process; the result keeps them alive."""
    library = torch.library.Library("aten", "IMPL", "Meta")
    library.impl("_thnn_fused_gru_cell", fused_gru_cell)
    library.impl("_thnn_fused_lstm_cell", fused_lstm_cell)
    return (library,)
