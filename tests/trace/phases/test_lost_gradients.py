"""Parameters that a step leaves without a gradient on the TPU alone, and the op that cut them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from tpu_audit.trace.chance import seeded
from tpu_audit.trace.fake import fake_mode, patched_for_fakes
from tpu_audit.trace.phases import training
from tpu_audit.trace.phases.interface import Subject
from tpu_audit.trace.places import Places
from tpu_audit.trace.recorder import Recorder
from tpu_audit.types.model import ModelSpec
from tpu_audit.types.trace import LostGradient, Role, TraceSettings

if TYPE_CHECKING:
    from collections.abc import Callable

SPEC = ModelSpec(target="x", id="x", revision=None, config_source="local", config={})


class Pooled(nn.Module):
    """A convolution before a pool, a layer after it, and one that is never used."""

    def __init__(self, pool: nn.Module) -> None:
        super().__init__()
        self.before = nn.Conv1d(2, 2, 3)
        self.pool = pool
        self.after = nn.Linear(3, 2)
        self.unused = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return (batch, 2, 2)."""
        return self.after(self.pool(self.before(x)))  # type: ignore[no-any-return]


class Ending(nn.Module):
    """A convolution, and a pool that ends it."""

    def __init__(self, pool: nn.Module) -> None:
        super().__init__()
        self.before = nn.Conv1d(2, 2, 3)
        self.pool = pool

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return (batch, 2, 3)."""
        return self.pool(self.before(x))  # type: ignore[no-any-return]


class Recurrent(nn.Module):
    """A layer before a recurrent one."""

    def __init__(self, kind: Callable[..., nn.Module]) -> None:
        super().__init__()
        self.before = nn.Linear(8, 4)
        self.recurrent = kind(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return (time, batch, 4)."""
        return self.recurrent(self.before(x))[0]  # type: ignore[no-any-return]


def step(make: Callable[[], nn.Module]) -> Subject:
    """Run a training step of what ``make`` returns; the subject afterwards."""
    places = Places()
    recorder = Recorder(places)

    def subject(device: str) -> Subject:
        with torch.device(device):
            model = make()
            inputs: dict[str, Any] = {"x": torch.empty(2, 2, 8)}
        return Subject(
            model=model, config=SimpleNamespace(), inputs=inputs, spec=SPEC,
            settings=TraceSettings(phase="train", dtype="float32"), recorder=recorder,
            places=places, assumptions=[], device=device, elsewhere=subject,
        )  # fmt: skip

    with seeded(), patched_for_fakes(), fake_mode(), recorder:
        ours = subject("tpu")
        with places.follow(ours.model):
            training.run(ours)
    return ours


def test_an_average_pool_cuts_off_what_is_before_it(pretended: str) -> None:
    """What lies behind the pool is named with it; what nobody uses is not."""
    assert pretended == "tpu"
    found = step(lambda: Pooled(nn.AvgPool1d(2)))

    assert found.no_gradient == [
        LostGradient(parameter="before.weight", op="aten.avg_pool1d.default"),
        LostGradient(parameter="before.bias", op="aten.avg_pool1d.default"),
    ]


def test_a_pool_with_derivatives_loses_nothing(pretended: str) -> None:
    """Max pooling is the wheel's own op with its own backward; unused parameters are no loss."""
    assert pretended == "tpu"
    found = step(lambda: Pooled(nn.MaxPool1d(2)))

    assert found.no_gradient == []
    calls = [use.op for use in found.recorder.ledgers["train"].uses() if use.role is Role.BACKWARD]
    assert "tpu._max_pool1d_backward.default" in calls


def test_recurrent_layers_keep_theirs_in_eager_mode(pretended: str) -> None:
    """LSTM and GRU stay one op forward, and their backward is a kernel that calls none."""
    assert pretended == "tpu"
    for kind, op in ((nn.LSTM, "aten.lstm.input"), (nn.GRU, "aten.gru.input")):
        found = step(lambda kind=kind: Recurrent(kind))  # type: ignore[misc]

        uses = found.recorder.ledgers["train"].uses()
        assert found.no_gradient == []
        assert [u.count for u in uses if u.op == op] == [1]
        placed = {u.op for u in uses if u.role is Role.BACKWARD and "recurrent" in u.modules}
        # Zeros stand for the gradients of states that nobody used, as the wheel makes them.
        assert placed == {"aten.zeros.default", "aten.detach.default"}


def test_a_loss_behind_a_cut_alone(pretended: str) -> None:
    """Backward cannot run then: all parameters are lost, and it is said why."""
    assert pretended == "tpu"
    found = step(lambda: Ending(nn.AvgPool1d(2)))

    assert {one.op for one in found.no_gradient} == {"aten.avg_pool1d.default"}
    assert len(found.no_gradient) == 2
    assert "backward was not run: autograd is cut off before the loss" in found.assumptions


def test_a_head_without_labels_is_trained_on_its_outputs(pretended: str) -> None:
    """The stand-in loss is its own role, and said."""
    assert pretended == "tpu"
    found = step(lambda: Pooled(nn.MaxPool1d(2)))

    assert "loss: mean of the outputs; the head has none" in found.assumptions
    uses = found.recorder.ledgers["train"].uses()
    assert [u.op for u in uses if u.role is Role.LOSS] == ["aten.mean.default"]
