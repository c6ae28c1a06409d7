"""Text of strangers on a terminal."""

from __future__ import annotations

import pytest

from tpu_audit.render.columns import columns
from tpu_audit.render.text import clean, plural


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("\x9b31mred", "\\x9b31mred"),
        ("a\u202egnp.exe", "a\\u202egnp.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("two\nlines\tand a tab", "two lines and a tab"),
        ("\ud800", "\\ud800"),
        ("Modèle 模型", "Modèle 模型"),
    ],
)
def test_clean(text: str, expected: str) -> None:
    """Whatever a terminal would obey is spelled out; other languages stay readable."""
    assert clean(text) == expected


def test_plural() -> None:
    """One is singular, thousands have separators."""
    assert (plural(1, "call"), plural(1234, "call")) == ("1 call", "1,234 calls")


def test_columns_align_and_clean() -> None:
    """Columns are as wide as their longest cell, and cells cannot break the lines."""
    text = columns(("op", "support"), [("aten.add.Tensor", "native"), ("a\nb", "x\x1b")])

    assert text == "op               support\naten.add.Tensor  native\na b              x\\x1b\n"
