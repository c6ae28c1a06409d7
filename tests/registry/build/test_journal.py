"""Sample runs survive the process that made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from op_registry.build.journal import Journal
from op_registry.build.observation import Answer, Reply, Run

if TYPE_CHECKING:
    from pathlib import Path


def test_reading_back_what_was_noted(tmp_path: Path) -> None:
    """Runs come back whole; after a proper end no op is under way."""
    seen = Run(leaves={"aten.a.b": Reply(answer=Answer.OTHER, message="no")}, error="stopped")
    journal = Journal(tmp_path / "journal")
    journal.begin("aten.a.b")
    journal.add({"aten.a.b": [seen], "aten.c.d": [seen, seen]})
    journal.end()
    assert journal.read() == ({"aten.a.b": [seen], "aten.c.d": [seen, seen]}, None)


def test_the_op_under_way_is_known_after_a_death(tmp_path: Path) -> None:
    """Without an end, the op that began last is the one that died, and earlier runs are kept."""
    journal = Journal(tmp_path / "journal")
    journal.begin("aten.a.b")
    journal.add({"aten.a.b": [Run(leaves={})]})
    journal.begin("aten.c.d")
    assert journal.read() == ({"aten.a.b": [Run(leaves={})]}, "aten.c.d")
