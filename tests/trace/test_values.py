"""Values that derive from inputs alone stay known; all others are guessed and counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

Record = Callable[[Callable[[], Any]], Any]


def test_known_integers_are_read_exactly(record: Record) -> None:
    """item() on a value that derives from constants gives the value, and no guess."""
    seen: list[Any] = []
    uses = record(lambda: seen.append((torch.arange(5, device="tpu") * 2).sum().item()))

    assert seen == [20]
    assert [u.guesses for u in uses] == [0] * len(uses)
    assert [u.op for u in uses if u.host_read] == ["aten._local_scalar_dense.default"]


def test_unknown_value_is_guessed_and_counted(record: Record) -> None:
    """item() on an activation is answered, and the answer is counted as a guess."""
    uses = record(lambda: torch.empty(3, device="tpu").sum().item())

    assert sum(u.guesses for u in uses) == 1


def test_boolean_mask_selects_its_own_count(record: Record) -> None:
    """Indexing by a known mask gives as many rows as the mask has true elements."""
    shapes: list[Any] = []

    def call() -> None:
        mask = torch.arange(6, device="tpu") > 3
        shapes.append(tuple(torch.empty(6, 4, device="tpu")[mask].shape))
        shapes.append(tuple(mask.nonzero().shape))

    uses = record(call)

    assert shapes == [(2, 4), (2, 1)]
    assert sum(u.guesses for u in uses) == 0


def test_write_through_a_view_reaches_the_base(record: Record) -> None:
    """A known value written into a slice is read back from the base."""
    seen: list[Any] = []

    def call() -> None:
        x = torch.zeros(4, dtype=torch.int64, device="tpu")
        x[1:3] = 7
        seen.append(x.tolist())

    record(call)

    assert seen == [[0, 7, 7, 0]]


def test_unknown_write_spoils_base_and_views(record: Record) -> None:
    """After an unknown value is written into a view, neither view nor base is known."""
    counts: list[Any] = []

    def call() -> None:
        x = torch.zeros(4, dtype=torch.int64, device="tpu")
        other = x[2:]
        x[:2] = torch.empty(2, device="tpu").to(torch.int64)
        other.sum().item()
        x.sum().item()

    uses = record(call)
    counts.append(sum(u.guesses for u in uses))

    assert counts == [2]


def test_constants_are_not_computed_twice(record: Record) -> None:
    """An in-place op on a literal tensor happens once."""
    seen: list[Any] = []

    def call() -> None:
        x = torch.tensor(3)
        x.add_(1)
        seen.append(x.item())

    record(call)

    assert seen == [4]


def test_random_values_are_unknown(record: Record) -> None:
    """A drawn number is never taken for known."""
    uses = record(lambda: torch.randint(0, 9, (2,), device="tpu").sum().item())

    assert sum(u.guesses for u in uses) == 1


def test_large_tensors_are_not_computed(record: Record) -> None:
    """Beyond the size limits nothing is computed, so memory stays flat."""
    uses = record(lambda: torch.arange(1 << 22, device="tpu").sum().item())

    assert sum(u.guesses for u in uses) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.nonzero(),
        lambda x: torch.masked_select(x, x > 0),
        torch.unique,
        torch.unique_consecutive,
        lambda x: torch.unique(x, dim=0),
        lambda x: torch.bincount(x.long()),
        lambda x: torch.repeat_interleave(x.long()),
        lambda x: torch.equal(x, x + 1),
        lambda x: bool((x > 0).any()),
        lambda x: x[x > 0],
    ],
)
def test_every_read_of_unknown_data_is_answered(record: Record, call: Callable[..., Any]) -> None:
    """No data-dependent op stops a trace: each is answered by a counted guess."""
    uses = record(lambda: call(torch.empty(8, device="tpu")))

    assert sum(u.guesses for u in uses) == 1
    assert any(u.host_read for u in uses)


def test_indices_of_an_unknown_mask_are_those_of_everything(record: Record) -> None:
    """What is selected by a guess can be looped over: indices within the tensor, each once."""
    seen: list[Any] = []

    def call() -> None:
        unknown = torch.empty(2, 2, device="tpu") > 0
        seen.append(unknown.nonzero().tolist())

    uses = record(call)

    assert seen == [[[0, 0], [0, 1], [1, 0], [1, 1]]]
    assert sum(u.guesses for u in uses) == 1


def test_experts_share_what_is_split(record: Record) -> None:
    """Sizes that take weights to know fill the tensor they split, and count as a guess."""
    shapes: list[Any] = []

    def call() -> None:
        counts = (torch.empty(8, 3, device="tpu") > 0).long().sum(0).tolist()
        shapes.append([part.shape[0] for part in torch.empty(8, 4, device="tpu").split(counts)])
        shapes.append([part.shape[0] for part in torch.empty(3, 4, device="tpu").split([1, 1, 1])])

    uses = record(call)

    assert shapes == [[3, 3, 2], [1, 1, 1]]
    assert [u.guesses for u in uses if "split" in u.op and u.inputs[0].shape[0] == 8] == [1]
