"""Diffs on a terminal."""

from __future__ import annotations

from tpu_audit.render.diff import unified


def test_plain() -> None:
    """A unified diff with the file's name; CRLF does not show."""
    text = unified("a.py", b"a\r\nb\r\n", b"a\r\nc\r\n")

    assert text == "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"


def test_colours() -> None:
    """Removed lines are red, added ones green."""
    text = unified("a.py", b"a\n", b"b\n", color=True)

    assert "\x1b[31m-a\x1b[0m\n\x1b[32m+b\x1b[0m\n" in text


def test_hostile_content() -> None:
    """What a file holds cannot speak to the terminal; tabs stay."""
    text = unified("a.py", b"a\n", b"\tb\x1b]0;x\x07\n")

    assert "\x1b" not in text
    assert "+\tb" in text


def test_last_line() -> None:
    """A line end that comes or goes is seen."""
    assert "(no line end)" in unified("a.py", b"a", b"a\n")
    assert unified("a.py", b"a\n", b"a\n") == ""
