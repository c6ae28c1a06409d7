"""Processes: the same answer with any number of them, also when one dies."""

from __future__ import annotations

import multiprocessing
import os
from typing import TYPE_CHECKING

import pytest

from tests.support.trees import HIT, tree
from tpu_audit.check import pool, run
from tpu_audit.check.file_check import check_bytes
from tpu_audit.check.options import CheckOptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tpu_audit.check.result import FileResult
    from tpu_audit.rules.rule import Rule


@pytest.fixture(name="many")
def _many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty files, and chunks so small that they are shared."""
    monkeypatch.setattr(pool, "_WORTH_BYTES", 0)
    monkeypatch.setattr(pool, "_CHUNK_BYTES", 10_000)
    return tree(tmp_path, {f"m{number:02}.py": HIT * (number % 3) for number in range(40)})


def test_same_with_any_number_of_processes(many: Path) -> None:
    """One process or four: the same report in the same order."""
    alone = run.check([str(many)], options=CheckOptions(jobs=1))

    assert run.check([str(many)], options=CheckOptions(jobs=4)) == alone
    assert len(alone.findings) == 39


def test_a_process_that_dies(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files that kill the interpreter are reported as unread; all others are checked."""

    def die(logical: str, data: bytes, rules: Sequence[Rule]) -> FileResult:
        if logical.endswith(("m07.py", "m31.py")):
            os._exit(139)
        return check_bytes(logical, data, rules)

    monkeypatch.setattr(pool, "check_bytes", die)
    report = run.check([str(many)], options=CheckOptions(jobs=3))

    assert [unread.path.rpartition("/")[2] for unread in report.unread] == ["m07.py", "m31.py"]
    assert {unread.code for unread in report.unread} == {"crash"}
    assert len(report.findings) == 39 - 2


def test_progress(many: Path) -> None:
    """Every file is counted once."""
    counted: list[int] = []

    class Counter:
        def start(self, total: int) -> None:
            counted.append(-total)

        def advance(self, done: int) -> None:
            counted.append(done)

    run.check([str(many)], options=CheckOptions(jobs=2), progress=Counter())

    assert counted[0] == -40
    assert sum(counted) == 0


def test_interrupted(many: Path) -> None:
    """Ctrl-C comes through at once, and no process is left behind."""

    class Impatient:
        def start(self, total: int) -> None:
            """Say nothing."""

        def advance(self, done: int) -> None:
            raise KeyboardInterrupt(done)

    with pytest.raises(KeyboardInterrupt):
        run.check([str(many)], options=CheckOptions(jobs=2), progress=Impatient())
    for child in multiprocessing.active_children():
        child.join(timeout=20)
    assert multiprocessing.active_children() == []
