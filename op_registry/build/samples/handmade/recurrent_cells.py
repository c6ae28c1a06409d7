"""Samples of the fused cells of recurrent networks, and of the networks over packed sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from op_registry.build.samples.handmade.declare import call, handmade, into

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from op_registry.build.samples.sample import Sample

_BATCH, _HIDDEN, _INPUT, _STEPS = 3, 4, 2, 5
_LSTM, _GRU = 4, 3
"""Gates of a cell."""


def _randn(dtype: torch.dtype, *shapes: tuple[int, ...]) -> list[torch.Tensor]:
    return [torch.randn(shape).to(dtype) for shape in shapes]


def _cell(dtype: torch.dtype, gates: int) -> Iterator[Sample]:
    wide = gates * _HIDDEN
    for biases in ([(wide,), (wide,)], []) if dtype.is_floating_point else ():
        state = (_BATCH, _HIDDEN)
        yield call(*_randn(dtype, (_BATCH, wide), (_BATCH, wide), state, *biases))


@handmade("aten._thnn_fused_lstm_cell.default")
def lstm_cell(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gates with and without biases."""
    yield from _cell(dtype, _LSTM)


@handmade("aten._thnn_fused_gru_cell.default")
def gru_cell(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gates with and without biases."""
    yield from _cell(dtype, _GRU)


@handmade("aten._thnn_fused_lstm_cell.out")
def lstm_cell_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same with outputs."""
    yield from into(lstm_cell(dtype), out0=dtype, out1=dtype, out2=dtype)


@handmade("aten._thnn_fused_gru_cell.out")
def gru_cell_out(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the same with outputs."""
    yield from into(gru_cell(dtype), out0=dtype, out1=dtype)


@handmade("aten._thnn_fused_lstm_cell_backward_impl.default")
def lstm_cell_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield gradients of both states; the workspace holds the gates after their activations."""
    for biased in (True, False) if dtype.is_floating_point else ():
        states = _randn(dtype, *[(_BATCH, _HIDDEN)] * 4)
        workspace = torch.rand(_BATCH, _LSTM * _HIDDEN).to(dtype)
        yield call(*states, workspace, biased)


@handmade("aten._thnn_fused_gru_cell_backward.default")
def gru_cell_backward(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield the gradient; the workspace holds gates, state and the gate of the new state."""
    for biased in (True, False) if dtype.is_floating_point else ():
        workspace = torch.rand(_BATCH, 5 * _HIDDEN).to(dtype)
        yield call(*_randn(dtype, (_BATCH, _HIDDEN)), workspace, biased)


def _weights(
    dtype: torch.dtype, gates: int, *, biases: bool, directions: int
) -> list[torch.Tensor]:
    wide = gates * _HIDDEN
    shapes: Sequence[tuple[int, ...]] = [(wide, _INPUT), (wide, _HIDDEN)]
    return _randn(dtype, *[*shapes, *([(wide,), (wide,)] if biases else [])] * directions)


def _network(dtype: torch.dtype, gates: int, *, packed: bool) -> Iterator[Sample]:
    """Yield calls with and without biases, in one direction and in both."""
    for biases, both in ((True, False), (False, False), (True, True)):
        if not dtype.is_floating_point:
            return
        states = _randn(dtype, *[(1 + both, _BATCH, _HIDDEN)] * (2 if gates == _LSTM else 1))
        state = states if gates == _LSTM else states[0]
        weights = _weights(dtype, gates, biases=biases, directions=1 + both)
        rest = (state, weights, biases, 1, 0.0, False, both)
        if packed:
            sizes = torch.tensor([_BATCH, _BATCH, 2, 1])
            yield call(torch.randn(int(sizes.sum()), _INPUT).to(dtype), sizes, *rest)
        else:
            for batch_first in (False, True):
                shape = (_BATCH, _STEPS) if batch_first else (_STEPS, _BATCH)
                yield call(torch.randn(*shape, _INPUT).to(dtype), *rest, batch_first)


@handmade("aten.lstm.input")
def lstm(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield whole sequences."""
    yield from _network(dtype, _LSTM, packed=False)


@handmade("aten.lstm.data")
def lstm_packed(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield packed sequences."""
    yield from _network(dtype, _LSTM, packed=True)


@handmade("aten.gru.input")
def gru(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield whole sequences."""
    yield from _network(dtype, _GRU, packed=False)


@handmade("aten.gru.data")
def gru_packed(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield packed sequences."""
    yield from _network(dtype, _GRU, packed=True)


@handmade("aten.rnn_tanh.input", "aten.rnn_relu.input")
def rnn(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield whole sequences."""
    yield from _network(dtype, 1, packed=False)


@handmade("aten.rnn_tanh.data", "aten.rnn_relu.data")
def rnn_packed(dtype: torch.dtype) -> Iterator[Sample]:
    """Yield packed sequences."""
    yield from _network(dtype, 1, packed=True)
