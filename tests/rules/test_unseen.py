"""All rules together over labelled cases that were written before the rules saw them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.case_scores import NO_FLAG, read_cases, score

if TYPE_CHECKING:
    from pathlib import Path

FILES = (
    "check_cases.jsonl",
    "check_cases_more.jsonl",
    "check_cases_kinds.jsonl",
    "check_cases_odd.jsonl",
    "check_cases_bare.jsonl",
    "check_cases_last.jsonl",
    "check_cases_final.jsonl",
    "check_cases_blind.jsonl",
)


@pytest.mark.parametrize("name", FILES)
def test_finds_what_matters_and_no_more(name: str, tmp_path: Path) -> None:
    """The checker flags at least 95 % of what it should, and 95 % of what it flags it should."""
    result = score(read_cases(name), tmp_path)
    summary = "\n".join((*result.missed, "noisy:", *result.noisy))
    assert result.recall >= 0.95, summary
    assert result.precision >= 0.95, summary


@pytest.mark.parametrize("name", FILES)
def test_cases_are_varied(name: str) -> None:
    """The cases are of every family and many kinds of file, some of them to leave alone."""
    cases = read_cases(name)
    assert len({case.id for case in cases}) == len(cases)
    assert set().union(*(case.families for case in cases)) == set("12345678")
    assert 0.15 <= sum(case.verdict == NO_FLAG for case in cases) / len(cases) <= 0.5
