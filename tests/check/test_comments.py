"""Ignore comments: where they count, what they cover, what they say."""

from __future__ import annotations

import pytest

from tpu_audit.check.comments import find_comments
from tpu_audit.rules.text import SourceText


def found(kind: str, text: str) -> list[tuple[int, int, int, tuple[str, ...], str]]:
    """Return line, first and last line covered, codes and reason of each comment."""
    comments = find_comments(kind, SourceText(text))
    return [(c.line, c.first, c.last, c.selectors, c.reason) for c in comments]


def test_python() -> None:
    """Behind code it covers its line, alone the next; a string or docstring is no comment."""
    text = (
        's = "# tpu-audit: ignore[TPA101] no"\n'
        "x = 1  # tpu-audit: ignore[TPA101, cuda-method] the GPU cluster's script\n"
        "# tpu-audit:ignore[TPA2]\n# more words\ny = 2\n"
        "z = 3 # tpu-audit: ignore\n"
    )

    assert found("python", text) == [
        (2, 2, 2, ("TPA101", "cuda-method"), "the GPU cluster's script"),
        (3, 3, 5, ("TPA2",), ""),
        (6, 6, 6, (), ""),
    ]


@pytest.mark.parametrize(
    ("kind", "text", "count"),
    [
        ("yaml", "a: b  # tpu-audit: ignore[TPA8] c\n", 1),
        ("cpp", "#include <x>  // tpu-audit: ignore[TPA6] c\n", 1),
        ("cpp", "/* tpu-audit: ignore[TPA6] c */\n", 1),
        ("ini", "; tpu-audit: ignore[TPA8] c\n", 1),
        ("shell", "a // tpu-audit: ignore[TPA8]\n", 0),
        ("json", "{} // tpu-audit: ignore[TPA7] c", 1),
        ("dockerfile", "# tpu-audit: ignore[TPA8] c\nFROM x\n", 1),
    ],
)
def test_other_formats(kind: str, text: str, count: int) -> None:
    """Each format's own comment signs count."""
    comments = find_comments(kind, SourceText(text))

    assert len(comments) == count
    assert all(comment.reason == "c" for comment in comments)


def test_broken_python() -> None:
    """Where the tokens end early, the comments before count; the file is a gap elsewhere."""
    text = "x = (  # tpu-audit: ignore[TPA1] a\n'''# tpu-audit: ignore[TPA2]"

    assert [selectors for _, _, _, selectors, _ in found("python", text)] == [("TPA1",)]
