"""What comments silence, and what is said of comments that do not."""

from __future__ import annotations

import pytest

from tpu_audit.check.result import Comment, FileResult, Item
from tpu_audit.check.silence import judge

RAN = frozenset({"TPA001", "TPA002", "TPA101", "TPA103"})


def item(code: str = "TPA103", line: int = 5, end: int | None = None) -> Item:
    """Return a finding on a line."""
    return Item(code, "error", line, 1, end or line, 9, "message", "advice")


def comment(*selectors: str, reason: str = "r", line: int = 5) -> Comment:
    """Return a comment behind code."""
    return Comment(line, 20, 60, line, line, selectors, reason)


def judged(items: list[Item], comments: list[Comment]) -> tuple[list[str], int]:
    """Return the codes kept, and how many findings were silenced."""
    result = judge(FileResult(kind="python", items=items, comments=comments), RAN)
    return [kept.code for kept in result.kept], len(result.silenced)


@pytest.mark.parametrize("selector", ["TPA103", "tpa103", "TPA1", "cuda-method", "ALL"])
def test_silenced(selector: str) -> None:
    """A code, a prefix, a name or ALL silences, in any case of the code."""
    assert judged([item()], [comment(selector)]) == ([], 1)


def test_any_line_of_the_finding() -> None:
    """The comment may stand behind any line of a finding that spans several."""
    assert judged([item(line=3, end=6)], [comment("TPA103")]) == ([], 1)
    assert judged([item(line=6)], [comment("TPA103")]) == (["TPA001", "TPA103"], 0)


def test_unused() -> None:
    """One code that finds nothing is named, and only a wholly unused comment can be removed."""
    kept = judge(
        FileResult(kind="python", items=[item()], comments=[comment("TPA103", "TPA101")]), RAN
    ).kept

    assert [(one.code, one.fixable) for one in kept] == [("TPA001", None)]
    assert "TPA101" in kept[0].message
    (whole,) = judge(FileResult(kind="python", comments=[comment("TPA101")]), RAN).kept
    assert (whole.code, whole.fixable) == ("TPA001", "safe")


def test_rules_that_did_not_run() -> None:
    """A comment for a rule that was not selected is not called unused."""
    assert judged([], [comment("TPA302")]) == ([], 0)


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (comment(), "names no rules"),
        (comment("TPA999"), "no rule is called TPA999"),
        (comment("TPA103", reason=""), "gives no reason"),
    ],
)
def test_unclear(one: Comment, says: str) -> None:
    """A comment says which rules, by codes that exist, and why."""
    kept = judge(FileResult(kind="python", items=[item()], comments=[one]), RAN).kept

    (bad,) = [found for found in kept if found.code == "TPA002"]
    assert says in bad.message
