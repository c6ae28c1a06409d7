"""Places of findings on one line."""

from __future__ import annotations

from tests.support.checks import finding, report
from tpu_audit.render.check.places import common_folder, where
from tpu_audit.types.report import Location

MANY = ("a.py:1:1", *(f"b.py:{n}:2" for n in range(1, 5)), "c.py:1:1", "c:d.py:9:9", "e.py:1:1")


def test_few_places_are_all_shown() -> None:
    """Up to three places stand in full, a file's name once."""
    assert where(MANY[1:4], "", everything=False) == "b.py:1:2, 2:2, 3:2"
    assert where(("b.py:1:2", "a.py:3:4"), "", everything=False) == "b.py:1:2; a.py:3:4"


def test_many_places_by_file() -> None:
    """Of many, those files are named that hold most, with the first place in each."""
    text = where(MANY, "", everything=False)

    assert text == "b.py:1:2 (4 there); a.py:1:1; c.py:1:1 and 2 more files"
    assert where(MANY[:-1], "", everything=False).endswith(" and 1 more file")


def test_everything() -> None:
    """All places stand there when they are asked for, also in a file with a colon in its name."""
    text = where(MANY, "", everything=True)

    assert text == "a.py:1:1; b.py:1:2, 2:2, 3:2, 4:2; c.py:1:1; c:d.py:9:9; e.py:1:1"


def test_common_folder() -> None:
    """Only names that are all absolute are cut; without findings there is nothing to cut."""

    def of(*paths: str) -> str:
        found = (finding(location=Location(path=path, line=1, column=1)) for path in paths)
        return common_folder(report(findings=tuple(found)))

    assert of("/a/b/c.py", "/a/d.py") == "/a"
    assert of("/a/b/c.py") == "/a/b"
    assert of("/a/b/c.py", "d.py") == ""
    assert of() == ""
