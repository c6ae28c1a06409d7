"""Drawing findings to review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.review import table
from tests.review.sample import Found, draw, found_in, version_of

if TYPE_CHECKING:
    from pathlib import Path


def _package(folder: Path, name: str, lines: int) -> list[Found]:
    file = folder / name / name / "a.py"
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"x = {n}\n" for n in range(lines)), encoding="utf-8")
    (folder / name / f"{name}-1.{lines}.dist-info").mkdir()
    return [
        Found(path=file, line=n + 1, code="TPA101", severity="error", message="m")
        for n in range(lines)
    ]


def test_same_seed_draws_the_same(tmp_path: Path) -> None:
    """The order in which findings come does not matter, the seed does."""
    found = _package(tmp_path, "one", 40)
    first = draw(found, tmp_path, count=10, seed=1)
    assert draw(found[::-1], tmp_path, count=10, seed=1) == first
    assert draw(found, tmp_path, count=10, seed=2) != first


def test_small_packages_are_drawn_whole(tmp_path: Path) -> None:
    """Packages take turns, so that a large one does not crowd out the others."""
    found = [*_package(tmp_path, "large", 40), *_package(tmp_path, "small", 3)]
    rows = draw(found, tmp_path, count=10, seed=0)
    assert [row.package for row in rows] == ["large"] * 7 + ["small"] * 3
    assert {row.version for row in rows} == {"1.40", "1.3"}
    assert all(row.source == f"x = {row.line - 1}" for row in rows)


def test_report_is_read(tmp_path: Path) -> None:
    """Findings of the asked severity are taken from the checker's JSON."""
    location = {"path": str(tmp_path / "a.py"), "line": 3, "column": 1}
    one: dict[str, object] = {"code": "TPA101", "message": "m", "location": location}
    both = [one | {"severity": "error"}, one | {"severity": "info"}]
    assert [found.line for found in found_in({"findings": both}, "error")] == [3]


def test_version_of_a_plain_folder(tmp_path: Path) -> None:
    """Without metadata the version is the module's own, or unknown."""
    (tmp_path / "a").mkdir()
    assert version_of(tmp_path / "a") == "unknown"
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "__init__.py").write_text('__version__ = "5.1"\n', encoding="utf-8")
    assert version_of(tmp_path / "b") == "5.1"


def test_table_is_written_as_read(tmp_path: Path) -> None:
    """A table that is written and read again is the same."""
    rows = draw(_package(tmp_path, "one", 3), tmp_path, count=3, seed=0)
    path = tmp_path / "errors.jsonl"
    path.write_text(table.text(rows), encoding="utf-8")
    assert table.read(path) == rows
