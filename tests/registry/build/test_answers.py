"""What the backend's error texts mean."""

from __future__ import annotations

import pytest

from op_registry.build.answers import classify, first_line
from op_registry.build.observation import Answer


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (RuntimeError("operator 'aten::mish.out' is not implemented for TPU."), "not_implemented"),
        (RuntimeError("nonzero(): cannot record EventSnapshot during an FX trace"), "host_sync"),
        (RuntimeError("item(): cannot Materialize() a placeholder tensor"), "host_sync"),
        (RuntimeError("failed to retrieve the PjRt client: no topology"), "needs_device"),
        (NotImplementedError("mm(): not implemented for int64"), "rejected"),
        (RuntimeError("expected 3D"), "other"),
    ],
)
def test_texts_decide(error: Exception, answer: str) -> None:
    """The text decides, not the class: a missing op arrives as a RuntimeError."""
    assert classify(error).answer is Answer(answer)


def test_what_changes_from_run_to_run_is_left_out() -> None:
    """Addresses, stray memory, paths and further lines do not reach a snapshot."""
    error = ValueError("<f at 0x7f12ab> in /home/me/x.py, size 94041626327088\nsecond line")
    assert first_line(error) == "<f at ...> in ..., size ..."
    assert first_line(KeyError()) == "KeyError"
