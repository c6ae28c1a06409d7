"""Patches that models need to run on fake tensors, and nothing of them left behind."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from tpu_audit.trace.fake import fake_mode, patched_for_fakes
from tpu_audit.trace.shadow import known_value

Record = Callable[[Callable[[], Any]], Any]


def on_device(values: list[int]) -> torch.Tensor:
    """Make a known tensor on the device."""
    return torch.tensor(values, device="tpu")


def ops(uses: Any) -> dict[str, int]:
    """Return op -> calls."""
    counts: dict[str, int] = {}
    for use in uses:
        counts[use.op] = counts.get(use.op, 0) + use.count
    return counts


def test_a_list_of_scalars_becomes_a_tensor(record: Record) -> None:
    """Each scalar is a host read, and the result holds their values."""
    made: list[torch.Tensor] = []

    def call() -> None:
        first, second = on_device([3, 4]).unbind()
        made.append(torch.tensor([first, second * 2], device="tpu"))
        known = known_value(made[0])
        assert known is not None
        assert known.tolist() == [3, 8]

    assert ops(record(call))["aten._local_scalar_dense.default"] == 2


def test_scalars_in_sequences_index(record: Record) -> None:
    """Assigning at (rows, columns) given as tuples of scalars reads them and assigns."""

    def call() -> None:
        grid = torch.zeros(2, 2, dtype=torch.int64, device="tpu")
        row, column = on_device([0, 1]).unbind()
        grid[(row, column), (column, row)] = 5
        known = known_value(grid)
        assert known is not None
        assert known.tolist() == [[0, 5], [5, 0]]

    assert ops(record(call))["aten._local_scalar_dense.default"] == 4


def test_a_deep_copy_is_a_parameter_of_its_own(record: Record) -> None:
    """Heads that are copied for each layer stay parameters on the device, shared ones shared."""

    def call() -> None:
        bias = nn.Parameter(torch.zeros((), device="tpu"))
        one, two = copy.deepcopy([bias, bias])
        assert one is two
        assert one is not bias
        assert isinstance(one, nn.Parameter)
        assert one.device.type == "tpu"

    record(call)


def test_recurrent_cells_have_shapes(record: Record) -> None:
    """A GRU cell and an LSTM cell reach the backend as their fused ops."""

    def call() -> None:
        x = torch.empty(2, 3, device="tpu")
        gru, lstm = nn.GRUCell(3, 4).to("tpu"), nn.LSTMCell(3, 4).to("tpu")
        assert gru(x).shape == (2, 4)
        assert [state.shape for state in lstm(x)] == [(2, 4), (2, 4)]

    seen = ops(record(call))
    assert seen["aten._thnn_fused_gru_cell.default"] == 1
    assert seen["aten._thnn_fused_lstm_cell.default"] == 1


def test_a_mask_expanded_over_a_width_selects_what_it_masks(record: Record) -> None:
    """Two of three tokens, over a width that makes the mask larger than any computed tensor."""

    def call() -> None:
        width = 1 << 20
        embeds = torch.empty(3, width, device="tpu")
        mask = (on_device([7, 7, 8]) == 7)[:, None].expand_as(embeds)
        assert embeds[mask].shape == (2 * width,)

    assert sum(use.guesses for use in record(call)) == 0


def test_nothing_stays_patched(pretended: str) -> None:
    """After the trace torch is as it was, in default devices too."""
    assert pretended == "tpu"
    before = (torch.tensor, torch.as_tensor, nn.Module._apply)
    with patched_for_fakes(), fake_mode():
        assert torch.tensor is not before[0]
        with torch.device("meta"):
            assert torch.tensor([1]).device.type == "meta"
    assert (torch.tensor, torch.as_tensor, nn.Module._apply) == before
