"""Why a process died, by its own words."""

from __future__ import annotations

from op_registry.toolchain.last_words import fatal_line, last_words

DIED = """W1130 08:00:00.1 1 hooks.cc:85] nothing serious
F1130 08:00:01.2 77 scatter.cc:154] Check failed: rank == 1
https://symbolize/r/?trace=7f52700a8eec
"""


def test_the_fatal_line_counts_not_the_last() -> None:
    """What a handler prints behind it says less; time and thread are left out."""
    assert fatal_line(DIED) == last_words(DIED) == "scatter.cc:154] Check failed: rank == 1"


def test_without_a_fatal_line_the_last_one_is_all_there_is() -> None:
    """Only a reader that wants any words gets them."""
    assert last_words("one\ntwo\n\n") == "two"
    assert fatal_line("one\ntwo\n") == ""
    assert last_words("") == ""
