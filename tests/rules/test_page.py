"""The generated page of rules."""

from __future__ import annotations

from tests.support.rules_page import PAGE, page
from tpu_audit.check.selection import all_rules


def test_current() -> None:
    """The committed page is what the rules say; ``tests.support.rules_page --update`` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_rule_has_its_headings() -> None:
    """Each rule stands in a table and has a section under the fixed headings."""
    text = page()

    for rule in all_rules():
        assert f"](#{rule.code.lower()}-{rule.name})" in text
        (section,) = [part for part in text.split("\n## ") if part.startswith(f"{rule.code} ")]
        for heading in ("What it does", "Why it matters", "Example", "Use instead", "Fix safety"):
            assert f"**{heading}" in section
