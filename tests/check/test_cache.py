"""Results remembered: found again, forgotten when anything changes, never in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.trees import HIT, tree
from tpu_audit.check import cache, file_check, recall, run
from tpu_audit.check.cache import ResultCache
from tpu_audit.check.options import CheckOptions
from tpu_audit.check.result import Comment, FileResult, Gap, Item
from tpu_audit.check.source import read_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tpu_audit.rules.rule import Rule

RESULT = FileResult(
    kind="python",
    items=[Item("TPA103", "error", 1, 2, 3, 4, "é", "b", "c", "safe")],
    comments=[Comment(1, 2, 3, 4, 5, ("TPA1", "x"), "why")],
    gaps=[Gap("syntax", "reason", 7), Gap("encoding", "reason")],
)


def test_round_trip(tmp_path: Path) -> None:
    """What is put under a key comes back, field for field; another key brings nothing."""
    store = ResultCache(tmp_path)
    empty = FileResult(kind="yaml")
    store.put([(b"a", RESULT.encode()), (b"b", empty.encode())])

    assert ResultCache(tmp_path).get([b"a", b"b", b"c"]) == {b"a": RESULT, b"b": empty}
    assert store.trouble is None


@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\0" + b"\xff" * 4000])
def test_damaged_file(tmp_path: Path, damage: bytes) -> None:
    """A broken file is thrown away; the next results are kept again."""
    store = ResultCache(tmp_path)
    store.put([(b"a", RESULT.encode())])
    (tmp_path / "checks" / "results.sqlite").write_bytes(damage)

    assert store.get([b"a"]) == {}
    store.put([(b"a", RESULT.encode())])
    store.put([(b"a", RESULT.encode())])
    assert store.get([b"a"]) == {b"a": RESULT}


def test_damaged_row(tmp_path: Path) -> None:
    """A row that is not a result is as good as none."""
    store = ResultCache(tmp_path)
    store.put([(b"a", "[1]["), (b"b", '["python", [[1]], [], []]')])

    assert store.get([b"a", b"b"]) == {}


def test_old_results_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody asked for in a month is forgotten; what was asked for stays."""
    store = ResultCache(tmp_path)
    monkeypatch.setattr(cache, "_today", lambda: 100)
    store.put([(b"old", RESULT.encode()), (b"used", RESULT.encode())])
    monkeypatch.setattr(cache, "_today", lambda: 120)
    store.get([b"used"])
    monkeypatch.setattr(cache, "_today", lambda: 140)
    store.put([(b"new", RESULT.encode())])

    assert set(store.get([b"old", b"used", b"new"])) == {b"used", b"new"}


def test_place_that_cannot_be_written(tmp_path: Path) -> None:
    """A cache that cannot be used is a note in the report; the check goes on."""
    (tmp_path / "file").write_text("")
    folder = tree(tmp_path / "p", {"a.py": HIT})
    report = run.check([str(folder)], options=CheckOptions(cache_dir=tmp_path / "file"))

    assert len(report.findings) == 1
    assert "results are not kept" in report.notes[0]


def test_second_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run reads no file anew and says the same; a changed file or setting is read."""
    folder = tree(tmp_path / "p", {"a.py": HIT, "b.py": HIT})
    options = CheckOptions(cache_dir=tmp_path / "cache", jobs=1)
    checked: list[str] = []
    really = file_check.check_bytes

    def note(logical: str, data: bytes, rules: Sequence[Rule]) -> FileResult:
        checked.append(logical)
        return really(logical, data, rules)

    monkeypatch.setattr("tpu_audit.check.pool.check_bytes", note)

    first = run.check([str(folder)], options=options)
    assert checked == ["p/a.py", "p/b.py"]
    assert run.check([str(folder)], options=options) == first
    assert len(checked) == 2
    tree(folder, {"a.py": HIT + "\n"})
    run.check([str(folder)], options=options)
    assert checked[2:] == ["p/a.py"]
    run.check([str(folder)], options=CheckOptions(cache_dir=tmp_path / "cache", select=("TPA1",)))
    assert len(checked) == 5


def test_first_run_reads_each_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are not read to look them up where nothing is remembered; later they are."""
    read: list[str] = []

    def note(path: str, kind: str | None) -> bytes | Gap:
        read.append(path)
        return read_bytes(path, kind)

    monkeypatch.setattr(recall, "read_bytes", note)
    project = str(tree(tmp_path / "project", {"a.py": HIT}))
    options = CheckOptions(cache_dir=tmp_path / "cache")
    counts = [(run.check([project], options=options), len(read))[1] for _ in range(2)]

    assert counts == [0, 1]
