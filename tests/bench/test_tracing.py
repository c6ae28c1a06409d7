"""The summary of traces beside bare runs."""

from __future__ import annotations

from tests.bench.tracing import LEAST_A_SECOND, summary

QUICK = {"name": "A", "traced": 0.2, "bare": 0.1}
SLOW = {"name": "B", "traced": 1.0, "bare": None}


def test_rates_are_of_sums() -> None:
    """Models a CPU second; those that do not run bare count in the first figure only."""
    traced, bare, cost = summary([{"models": [QUICK, SLOW], "untraced": ["C"]}]).figures

    assert round(traced.value, 3) == round(2 / 1.2, 3)
    assert (bare.value, cost.value) == (10, 2)
    assert traced.least == LEAST_A_SECOND
    assert traced.missed


def test_what_was_left_out_is_told() -> None:
    """How many classes could not be traced, and how many do not run bare, is in the method."""
    method = summary([{"models": [QUICK, SLOW], "untraced": ["C"]}]).method

    assert "2 classes" in method
    assert "1 more" in method
    assert "(1 do)" in method
