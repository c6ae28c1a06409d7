"""A whole repair: which files, what is written, what is counted."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.trees import CLEAN, HIT, tree
from tpu_audit.check import pool
from tpu_audit.check.options import CheckOptions
from tpu_audit.fix import run
from tpu_audit.fix.file_fix import FileFix
from tpu_audit.fix.run import fix

if TYPE_CHECKING:
    from pathlib import Path

    from tpu_audit.fix.file_fix import Wish


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    """Make a project with a dozen files to repair and two others."""
    files = {f"m{number:02}.py": HIT * (1 + number % 2) for number in range(12)}
    return tree(tmp_path, {**files, "clean.py": CLEAN, "broken.py": "cuda(\n"})


def contents(folder: Path) -> dict[str, bytes]:
    """Return what every file holds."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("jobs", [1, 3])
def test_written(project: Path, jobs: int) -> None:
    """Files are changed only on request; then a second repair has nothing to do."""
    before = contents(project)
    shown = fix([str(project)], options=CheckOptions(jobs=jobs))
    assert contents(project) == before
    assert [one.path.rpartition("/")[2] for one in shown.files] == [
        f"m{n:02}.py" for n in range(12)
    ]
    assert sum(one.result.applied["TPA103"] for one in shown.files) == 18

    written = fix([str(project)], options=CheckOptions(jobs=jobs), write=True)
    assert [one.result.after for one in written.files] == [one.result.after for one in shown.files]
    assert contents(project) == {
        **before,
        **{one.path.rpartition("/")[2]: one.result.after for one in written.files},
    }
    assert fix([str(project)], options=CheckOptions(jobs=jobs)).files == ()


def test_what_is_left(project: Path) -> None:
    """Repairs that are unsafe, and findings without any, are counted."""
    tree(project, {"u.py": 'import torch\nx = torch.zeros(2, device="cuda")\n'})
    report = fix([str(project)], options=CheckOptions())

    assert report.unsafe == 1
    assert len(fix([str(project)], options=CheckOptions(), unsafe=True).files) == 13


def test_repairs_go_as_deep_as_checks(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file deep enough for the checker's processes is not given up by the repairer's."""

    def limit(logical: str, data: bytes, wish: Wish) -> FileFix:
        del logical, wish
        return FileFix(before=data, after=str(sys.getrecursionlimit()).encode())

    monkeypatch.setattr(run, "repair_bytes", limit)
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(1000)
        monkeypatch.setattr(pool, "_WORTH_BYTES", 0)
        monkeypatch.setattr(pool, "_CHUNK_BYTES", 1000)
        report = run.fix([str(project)], options=CheckOptions(jobs=2))
        assert sys.getrecursionlimit() == 1000
        assert {one.result.after for one in report.files} == {b"3000"}
    finally:
        sys.setrecursionlimit(before)
