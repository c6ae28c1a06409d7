"""What the tests of input builders share: a small model in, its inputs and its trace out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.feeding import Feeder

if TYPE_CHECKING:
    from op_registry.schema import Snapshot


@pytest.fixture(name="feed")
def _feed(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> Feeder:
    """Trace a config dictionary."""
    return Feeder(snapshot, monkeypatch)
