"""The pretended device dispatches as the wheel does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.wheel import both, needs_wheel, run_json
from tpu_audit.trace.quirks import QUIRKS

BACKWARD = Path(__file__).parents[1] / "support" / "backward_probe.py"
PROBE = Path(__file__).parents[1] / "support" / "dispatch_probe.py"


@needs_wheel
@pytest.mark.tpu
def test_pretended_device_dispatches_as_the_wheel() -> None:
    """Each probed call reaches the backend as the same ops on both dispatchers."""
    pretended, real = both(PROBE)

    different = {name: (ops, real[name]) for name, ops in pretended.items() if ops != real[name]}
    assert different == {}
    assert len(real) > 100


@needs_wheel
@pytest.mark.tpu
def test_pretended_device_goes_back_as_the_wheel() -> None:
    """The backward pass of each probed call ends in the same ops, node by node."""
    pretended, real = both(BACKWARD)

    different = {name: (ops, real[name]) for name, ops in pretended.items() if ops != real[name]}
    assert different == {}
    assert not any(ops[0].startswith("raises") for ops in real.values())
    assert real["avg_pool1d"] == ["no gradient"]


def test_probe_shows_every_quirk() -> None:
    """Without the wheel: the quirks are installed and change what the backend sees."""
    answers = run_json(sys.executable, PROBE, "pretended")

    assert answers["heads 128 torch.bfloat16"] == [
        "aten._scaled_dot_product_cudnn_attention.default"
    ]
    assert answers["heads 160 torch.bfloat16"] == [
        "aten._scaled_dot_product_fused_attention_overrideable.default"
    ]
    assert answers["linear"] == ["aten.linear.default"]
    assert answers["rms_norm"] == ["aten._fused_rms_norm.default"]
    assert answers["max_pool2d"] == ["tpu._max_pool2d.default"]
    assert answers["repeat_interleave"][-1] == "aten._unsafe_view.default"
    assert "aten.expand.default" not in answers["repeat_interleave one count"]
    assert answers["grouped_mm"] == ["aten._grouped_mm.default"]
    assert "aten.lstm.input" in answers["LSTM"]


def test_quirks_carry_their_reason() -> None:
    """Each quirk says why it exists and for which versions it was proven."""
    assert all(quirk.reason and quirk.versions for quirk in QUIRKS)
    assert len({quirk.name for quirk in QUIRKS}) == len(QUIRKS)
