"""Repairs that go together, and those that wait for the next pass."""

from __future__ import annotations

import pytest

from tpu_audit.fix.choose import Repair, compatible
from tpu_audit.rules.edits import Applicability, Edit, Fix


def repair(code: str, *places: tuple[int, int]) -> Repair:
    """Return a repair that edits these places."""
    edits = tuple(Edit(start=start, end=end, text=code) for start, end in places)
    return Repair(code=code, fix=Fix(edits=edits, applicability=Applicability.SAFE))


@pytest.mark.parametrize(
    ("repairs", "chosen"),
    [
        ([repair("b", (5, 9)), repair("a", (0, 5))], ["a", "b"]),
        ([repair("a", (0, 6)), repair("b", (5, 9))], ["a"]),
        ([repair("a", (3, 3)), repair("b", (3, 3))], ["a"]),
        ([repair("a", (3, 3)), repair("b", (3, 7))], ["a"]),
        ([repair("a", (0, 1), (20, 21)), repair("b", (10, 11))], ["a", "b"]),
        ([repair("a", (0, 1), (10, 21)), repair("b", (10, 11))], ["a"]),
        ([repair("a")], []),
    ],
)
def test_chosen(repairs: list[Repair], chosen: list[str]) -> None:
    """All edits of a repair or none; the first in the file wins."""
    assert [one.code for one in compatible(repairs)] == chosen
