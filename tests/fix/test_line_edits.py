"""Edits of lines from one text to another."""

from __future__ import annotations

import random

from tpu_audit.fix.line_edits import line_edits
from tpu_audit.rules.edits import apply_edits


def test_any_change() -> None:
    """Applied to the first text, the edits give the second, whatever the two are."""
    chance = random.Random(7)  # noqa: S311 - samples
    for _ in range(200):
        before, after = (
            "".join(chance.choice(["a\n", "é\r\n", "b", "\n"]) for _ in range(chance.randrange(12)))
            for _ in range(2)
        )

        assert apply_edits(before.encode(), line_edits(before, after)).decode() == after


def test_unchanged() -> None:
    """Equal texts need no edits."""
    assert line_edits("a\nb\n", "a\nb\n") == ()
