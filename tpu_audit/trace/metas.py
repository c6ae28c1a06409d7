"""Shapes of ops that torch gives no meta function: without one a fake tensor cannot pass."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

Tensor = torch.Tensor
_CTC_REDUCTION = 4
"""Position of the reduction among the arguments after the probabilities."""
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


def ctc_loss(log_probs: Tensor, *rest: Any, **kwargs: Any) -> Tensor:
    """Return one loss, or with reduction 0 one for each of the batch."""
    reduction = kwargs.get("reduction", rest[_CTC_REDUCTION] if len(rest) > _CTC_REDUCTION else 1)
    batch = () if log_probs.dim() == 2 else (log_probs.shape[1],)  # noqa: PLR2004  # (time, classes)
    return log_probs.new_empty(() if reduction else batch)


def ctc_loss_backward(_grad: Tensor, log_probs: Tensor, *_rest: Any) -> Tensor:
    """Return the gradient of the probabilities."""
    return torch.empty_like(log_probs)


@cache
def register() -> tuple[torch.library.Library, ...]:
    """Register the functions, once a process; the result keeps them alive."""
    library = torch.library.Library("aten", "IMPL", "Meta")
    library.impl("_thnn_fused_gru_cell", fused_gru_cell)
    library.impl("_thnn_fused_lstm_cell", fused_lstm_cell)
    for overload in ("default", "Tensor"):
        backward = getattr(torch.ops.aten._ctc_loss_backward, overload)
        library.impl(backward, ctc_loss_backward)
    composite = torch._C.DispatchKey.CompositeImplicitAutograd
    torch.ops.aten.ctc_loss.Tensor.py_impl(composite)(ctc_loss)
    return (library,)
