"""One step of recurrent networks, with what their backward starts from."""

from __future__ import annotations

import torch

from op_registry.reference.declare import kernel

_SOURCE = "definition (Hochreiter & Schmidhuber 1997; Cho et al. 2014), gates in PyTorch's order"
_ACCURACY = "rounding of elementwise float32"
_NO_CPU = "eager CPU PyTorch has no kernel: compared with the unfused cell"


def _expected_lstm(
    input_gates: torch.Tensor,
    hidden_gates: torch.Tensor,
    cx: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> tuple[torch.Tensor, ...]:
    eye = torch.eye(input_gates.shape[-1], dtype=cx.dtype)
    zeros = torch.zeros(input_gates.shape[-1], dtype=cx.dtype)
    given = input_gates + hidden_gates
    none = torch.zeros_like(cx)
    biases = [zeros if one is None else one for one in (input_bias, hidden_bias)]
    recurrent = torch.zeros(given.shape[-1], cx.shape[-1], dtype=cx.dtype)
    hidden, cell = torch.lstm_cell(given, (none, cx), eye, recurrent, *biases)
    parts = (given + biases[0] + biases[1]).unflatten(-1, (4, -1))
    gates = torch.stack(
        [parts[:, k].tanh() if k == 2 else parts[:, k].sigmoid() for k in range(4)], 1
    )
    return hidden, cell, gates.flatten(1)


def _lstm(gates: torch.Tensor, cx: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    into, forget, new, out = gates.chunk(4, 1)
    into, forget, new, out = into.sigmoid(), forget.sigmoid(), new.tanh(), out.sigmoid()
    cell = forget * cx + into * new
    return out * cell.tanh(), cell, torch.cat([into, forget, new, out], 1)


@kernel(
    "aten._thnn_fused_lstm_cell.default",
    source=_SOURCE,
    accuracy=f"{_ACCURACY}; {_NO_CPU}",
    nonfinite="what it is compared with goes another way to the gates",
    expected=_expected_lstm,
)
def thnn_fused_lstm_cell(
    input_gates: torch.Tensor,
    hidden_gates: torch.Tensor,
    cx: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return hidden state, cell state (batch, size) and the gates (batch, 4 size) after a step.

    ``input_gates`` and ``hidden_gates`` (batch, 4 size) are the products with the weights.
    """
    gates = input_gates + hidden_gates
    for bias in (input_bias, hidden_bias):
        gates = gates if bias is None else gates + bias
    return _lstm(gates, cx)


def _expected_lstm_backward(
    grad_hy: torch.Tensor | None,
    grad_cy: torch.Tensor | None,
    cx: torch.Tensor,
    cy: torch.Tensor,
    workspace: torch.Tensor,
    has_bias: bool,
) -> tuple[torch.Tensor | None, ...]:
    """Differentiate a step whose gates before their functions are found from those after them."""
    into, forget, new, out = workspace.chunk(4, 1)
    before = torch.cat([into.logit(), forget.logit(), new.atanh(), out.logit()], 1)
    with torch.enable_grad():
        leaves = [before.detach().requires_grad_(), cx.detach().requires_grad_()]
        into, forget, new, out = leaves[0].chunk(4, 1)
        made = forget.sigmoid() * leaves[1] + into.sigmoid() * new.tanh()
        cell = made + (cy - made).detach()  # samples may hold any state
        pairs = [(out.sigmoid() * cell.tanh(), grad_hy), (cell, grad_cy)]
        used = [(made, grad) for made, grad in pairs if grad is not None]
        found = torch.autograd.grad([made for made, _ in used], leaves, [grad for _, grad in used])
    return found[0], found[1], found[0].sum(0) if has_bias else None


@kernel(
    "aten._thnn_fused_lstm_cell_backward_impl.default",
    source="derivative",
    accuracy=f"{_ACCURACY}; {_NO_CPU}",
    nonfinite="what it is compared with goes another way to the gates",
    expected=_expected_lstm_backward,
)
def thnn_fused_lstm_cell_backward(
    grad_hy: torch.Tensor | None,
    grad_cy: torch.Tensor | None,
    cx: torch.Tensor,
    cy: torch.Tensor,
    workspace: torch.Tensor,
    has_bias: bool,
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]:
    """Return the gradients of the gates (batch, 4 size), of ``cx``, and of a bias if there is one.

    ``workspace`` are the gates after their functions, ``cy`` the new cell state.
    """
    if grad_hy is None and grad_cy is None:
        return None, None, None
    into, forget, new, out = workspace.chunk(4, 1)
    hidden = torch.zeros_like(cx) if grad_hy is None else grad_hy
    squashed = cy.tanh()
    cell = hidden * out * (1 - squashed * squashed)
    cell = cell if grad_cy is None else cell + grad_cy
    gates = torch.cat(
        [
            cell * new * into * (1 - into),
            cell * cx * forget * (1 - forget),
            cell * into * (1 - new * new),
            hidden * squashed * out * (1 - out),
        ],
        1,
    )
    return gates, cell * forget, gates.sum(0) if has_bias else None


def _expected_gru(
    input_gates: torch.Tensor,
    hidden_gates: torch.Tensor,
    hx: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the step as ``gru_cell`` documents it; the gates after their functions come along."""
    given = input_gates if input_bias is None else input_gates + input_bias
    state = hidden_gates if hidden_bias is None else hidden_gates + hidden_bias
    size = hx.shape[1]
    reset = torch.sigmoid(given[:, :size] + state[:, :size])
    update = torch.sigmoid(given[:, size : 2 * size] + state[:, size : 2 * size])
    new = torch.tanh(given[:, 2 * size :] + reset * state[:, 2 * size :])
    saved = torch.cat([reset, update, new, hx, state[:, 2 * size :]], 1)
    return (1 - update) * new + update * hx, saved


@kernel(
    "aten._thnn_fused_gru_cell.default",
    source=_SOURCE,
    accuracy=f"{_ACCURACY}; {_NO_CPU}",
    expected=_expected_gru,
)
def thnn_fused_gru_cell(
    input_gates: torch.Tensor,
    hidden_gates: torch.Tensor,
    hx: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the new hidden state (batch, size), and what the backward needs (batch, 5 size).

    ``input_gates`` and ``hidden_gates`` (batch, 3 size) are the products with the weights. For the
    backward: both gates and the candidate after their functions, ``hx``, and the state's part.
    """
    given = input_gates if input_bias is None else input_gates + input_bias
    state = hidden_gates if hidden_bias is None else hidden_gates + hidden_bias
    reset_in, update_in, new_in = given.chunk(3, 1)
    reset_state, update_state, new_state = state.chunk(3, 1)
    reset, update = (reset_in + reset_state).sigmoid(), (update_in + update_state).sigmoid()
    new = (new_in + reset * new_state).tanh()
    return new + update * (hx - new), torch.cat([reset, update, new, hx, new_state], 1)


def _expected_gru_backward(
    grad_hy: torch.Tensor, workspace: torch.Tensor, has_bias: bool
) -> tuple[torch.Tensor | None, ...]:
    """Differentiate a step whose gates before their functions are found from those after them."""
    reset, update, new, hx, state = workspace.chunk(5, 1)
    zeros = torch.zeros_like(reset)
    given = torch.cat([reset.logit(), update.logit(), new.atanh() - reset * state], 1)
    hidden = torch.cat([zeros, zeros, state], 1)
    with torch.enable_grad():
        leaves = [one.detach().requires_grad_() for one in (given, hidden, hx)]
        found = torch.autograd.grad(_expected_gru(*leaves)[0], leaves, grad_hy)
    sums = [one.sum(0) if has_bias else None for one in found[:2]]
    return *found, *sums


@kernel(
    "aten._thnn_fused_gru_cell_backward.default",
    source="derivative",
    accuracy=f"{_ACCURACY}; {_NO_CPU}",
    nonfinite="what it is compared with goes another way to the gates",
    tolerance=10.0,
    expected=_expected_gru_backward,
)
def thnn_fused_gru_cell_backward(
    grad_hy: torch.Tensor, workspace: torch.Tensor, has_bias: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
    """Return the gradients of both gates' inputs (batch, 3 size), of ``hx``, and of two biases.

    ``workspace`` (batch, 5 size) is what the forward kept.
    """
    reset, update, new, hx, state = workspace.chunk(5, 1)
    of_new = grad_hy * (1 - update) * (1 - new * new)
    of_update = grad_hy * (hx - new) * update * (1 - update)
    of_reset = of_new * state * reset * (1 - reset)
    of_input = torch.cat([of_reset, of_update, of_new], 1)
    of_hidden = torch.cat([of_reset, of_update, of_new * reset], 1)
    sums = (of_input.sum(0), of_hidden.sum(0)) if has_bias else (None, None)
    return of_input, of_hidden, grad_hy * update, *sums
